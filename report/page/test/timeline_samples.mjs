// A made-up page whose timeline has an op, its backward pass, and what both launched.
import { addLane, planes } from './page_writer.mjs';
import { writeRun } from './samples.mjs';

/** Names of the events, by their numbers in their lanes: two threads, a stream. */
export const FLOW = {
  lanes: [
    ['step', 'forward_op', 'inner_op', 'launch_1', 'launch_2'],
    ['node', 'backward_op', 'launch_3'],
    ['kernel_1', 'kernel_2', 'kernel_3', 'alone'],
  ],
};
const NAMES = FLOW.lanes.flat();

function eventsOf(list) {
  return list.map(([name, start, duration, depth = 0]) => ({ signature: NAMES.indexOf(name), start, duration, depth }));
}

/** One rank. The chosen events are "0.1" forward_op, "2.2" kernel_3, "2.3" alone. */
export function writeFlow(path) {
  return writeRun(path, { ranks: ['0'], steps: ['6', '7'], events: 40, streams: 1, threads: 1, timeline: (writer, of) => {
    const fields = ['name', 'variant', 'op', 'class'].map((key) => ({ key, header: key, unit: '', type: 'text', fold: 'key', help: key }));
    of.signature_fields = fields;
    of.signatures = writer.table(fields, NAMES.map((name) => ({ name, variant: name === 'kernel_1' ? 'AddFunctor' : null, op: null, class: name.includes('kernel') || name === 'alone' ? 'compute' : name.includes('launch') ? 'api' : 'operator' })));
    const thread = (number) => ({ rank: '0', kind: 'thread', device: null, stream: null, process: 12, thread: number, name: `thread ${number}`, depth: 4 });
    of.lanes.length = 0;
    of.lanes.push(
      addLane(writer, thread(1), eventsOf([['step', 0, 1000], ['forward_op', 100, 300, 1], ['inner_op', 120, 200, 2], ['launch_1', 130, 20, 3], ['launch_2', 200, 20, 3]])),
      addLane(writer, thread(2), eventsOf([['node', 600, 200], ['backward_op', 620, 150, 1], ['launch_3', 640, 20, 2]])),
      addLane(writer, { rank: '0', kind: 'stream', device: 0, stream: 7, process: null, thread: null, name: 'stream 7' }, eventsOf([['kernel_1', 300, 100], ['kernel_2', 420, 100], ['kernel_3', 700, 200], ['alone', 950, 20]])),
    );
    const chunk = (links) => writer.bytes(Buffer.concat([0, 1, 2, 3].map((place) => planes(links.map((link) => link[place]), 4))));
    // Not in the order of their ends: a page may have them so.
    of.links = [
      { kind: 'launch', count: 3, chunk: chunk([[1, 2, 2, 2], [0, 4, 2, 1], [0, 3, 2, 0]]) },
      { kind: 'backward', count: 1, chunk: chunk([[0, 1, 1, 0]]) },
    ];
  } });
}

/** Ranges of the modules that the view has: layer2 before layer0, before layer1; in layer2 fc before conv1. */
export function writeModules(path) {
  const names = ['other', 'Net', 'layer0', 'layer1', 'layer2', 'fc', 'conv1'];
  return writeRun(path, { ranks: ['0'], steps: ['6', '7'], events: 40, streams: 1, threads: 1, timeline: (writer, of) => {
    of.signature_fields = ['name', 'class'].map((key) => ({ key, header: key, unit: '', type: 'text', fold: 'key', help: key }));
    of.signatures = writer.table(of.signature_fields, names.map((name) => ({ name, class: name === 'other' ? 'operator' : 'module' })));
    const events = [['Net', 0, 1000], ['layer2', 100, 200, 1], ['other', 105, 190, 2], ['fc', 110, 20, 3], ['conv1', 140, 20, 3], ['layer0', 400, 100, 1], ['layer1', 600, 100, 1], ['Net', 2000, 1000], ['layer1', 2100, 100, 1]];
    of.lanes = [addLane(writer, { rank: '0', kind: 'thread', device: null, stream: null, process: 12, thread: 1, name: 'thread 1', depth: 4 }, events.map(([name, start, duration, depth = 0]) => ({ signature: names.indexOf(name), start, duration, depth })))];
    of.links = [];
  } });
}
