// A made-up page whose timeline has an op, its backward pass, and what both launched.
import { addLane, planes } from './page_writer.mjs';
import { fieldsOf } from './sample_views.mjs';
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

const CALL_FIELDS = `rank|Rank||text|key|of the process\nstep|Step||integer|key|number\nstart_ns|Start(ns)|ns|integer|key|from the first event of the rank\nkind|Kind||text|key|what it does
time|Time||text|key|what is measured\nlatency_ns|Latency(ns)|ns|integer|sum|its kernels ran\nwait_ns|Wait(ns)|ns|integer|sum|for the last rank\ntransfer_ns|Transfer(ns)|ns|integer|sum|the rest
matched_ranks|Matched||integer|max|ranks that have it\nmatch_id|MatchId||integer|key|which call it is\narrival_ns|Arrival(ns)|ns|integer|none|later than the first\nlast_rank|Last||text|none|the last to come\nlast_by_ns|LastBy(ns)|ns|integer|none|later than the one before`;

/**
 * Three ranks, whose origins are 0, 1000 and 2000 on the axis: an all_reduce of all, a message of 0 to 1, an all_reduce that
 * cannot be one by these clocks and whose row of rank 2 is not on the page, and a call of rank 2 alone.
 */
export const CALLS = [
  ['0', 5000, 'all_reduce', 4000, 2500, 1500, 3, 1, 0, '2', 500], ['1', 6000, 'all_reduce', 2000, 500, 1500, 3, 1, 2000, '2', 500], ['2', 5500, 'all_reduce', 1500, 0, 1500, 3, 1, 2500, '2', 500],
  ['0', 10_000, 'send', 1000, 0, 1000, 2, 2, 0, '1', 500], ['1', 9500, 'recv', 1000, 0, 1000, 2, 2, 500, '1', 500],
  ['0', 12_000, 'all_reduce', 500, 0, 500, 3, 3, null, null, null], ['1', 14_000, 'all_reduce', 500, 0, 500, 3, 3, null, null, null],
  ['2', 15_000, 'all_reduce', 500, null, null, 1, null, null, null, null],
];

/** The streams of the ranks are the lanes 0 to 2; a kernel that begins with the first call is on lane 3. */
export function writeCalls(path) {
  const names = ['compute', 'all_reduce', 'send', 'recv'];
  return writeRun(path, {
    ranks: ['0', '1', '2'], steps: ['6', '7'], events: 40, streams: 1, threads: 1,
    timeline: (writer, of) => {
      of.signature_fields = ['name', 'class'].map((key) => ({ key, header: key, unit: '', type: 'text', fold: 'key', help: key }));
      of.signatures = writer.table(of.signature_fields, names.map((name, at) => ({ name, class: at ? 'communication' : 'compute' })));
      const stream = (rank, number) => ({ rank, kind: 'stream', device: Number(rank), stream: number, process: null, thread: null, name: `stream ${number}` });
      of.lanes = ['0', '1', '2'].map((rank) => addLane(writer, stream(rank, 7), CALLS.filter(([of]) => of === rank).map(([, start, kind, duration]) => ({ signature: names.indexOf(kind), start, duration }))));
      of.lanes.push(addLane(writer, stream('0', 8), [{ signature: 0, start: 5000, duration: 300 }]));
      of.links = [];
    },
    views: (writer, views) => {
      const fields = fieldsOf(CALL_FIELDS);
      const rows = CALLS.map(([rank, start_ns, kind, latency_ns, wait_ns, transfer_ns, matched_ranks, match_id, arrival_ns, last_rank, last_by_ns]) => ({ rank, step: 6, start_ns, kind, time: 'kernel', latency_ns, wait_ns, transfer_ns, matched_ranks, match_id, arrival_ns, last_rank, last_by_ns }));
      views.push({ name: 'collectives', help: 'each call', notes: [], rules: 'oplens', fields, rows: rows.length, table: writer.table(fields, rows), by_step: null, groupings: [], left_out: 0 });
    },
  });
}
