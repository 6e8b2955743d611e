/**
 * Unpacks the page's own style and script, both in the element `page`, and runs them. The policy of the page knows their
 * hashes, so nothing else would run. Written for browsers that cannot unpack them too: they show a sentence.
 */

type Policy = { createScript(text: string): string };
type Factory = { createPolicy(name: string, rules: Policy): Policy };

function insert(kind: 'style' | 'script', text: string): void {
  const element = document.createElement(kind);
  element.textContent = text;
  document.head.appendChild(element);
}

function fail(reason: unknown): void {
  const fault = document.createElement('p');
  fault.className = 'fault';
  fault.textContent = `This page cannot be shown: ${reason}. It needs Chromium 117, Firefox 113, Safari 16.4 or later.`;
  const app = document.getElementById('app')!;
  app.textContent = '';
  app.appendChild(fault);
}

function load(): Promise<void> {
  const binary = atob(document.getElementById('page')!.textContent!);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(unpacked).text().then((text) => {
    const end = text.indexOf('\0');
    insert('style', text.slice(0, end));
    const factory = (window as unknown as { trustedTypes?: Factory }).trustedTypes;
    const policy = factory ? factory.createPolicy('oplens', { createScript: (script) => script }) : null;
    const script = text.slice(end + 1);
    insert('script', policy ? policy.createScript(script) : script);
  });
}

try {
  load().catch(fail);
} catch (error) {
  fail(error);
}
