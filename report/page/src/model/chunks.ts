/** Chunks of the page: base64 of raw deflate in script elements that no browser runs. */

type FromBase64 = { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as FromBase64).fromBase64;
  if (native) return native(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new DecompressionStream('deflate-raw');
  const writer = stream.writable.getWriter();
  // A fault is reported by the reading side.
  writer.write(bytes).catch(() => undefined);
  writer.close().catch(() => undefined);
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

/** The bytes of a chunk, by its name. Rejects where the page does not hold it. */
export async function chunkBytes(name: string): Promise<Uint8Array> {
  const element = document.getElementById(name);
  if (!element) throw new Error(`chunk ${name} is not on the page`);
  return inflate(fromBase64((element.textContent ?? '').trim()));
}

export async function chunkJson(name: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await chunkBytes(name)));
}

/** Numbers of `width` bytes from planes at `offset`, `count` of them. Above 4 bytes: as doubles. */
export function readPlanes(bytes: Uint8Array, offset: number, count: number, width: number): Uint32Array | Float64Array {
  if (bytes.length < offset + count * width) throw new Error('a chunk is too short');
  if (width <= 4) {
    const out = new Uint32Array(count);
    for (let plane = 0; plane < width; ++plane) {
      const at = offset + plane * count;
      const shift = plane * 8;
      for (let i = 0; i < count; ++i) out[i] |= bytes[at + i] << shift;
    }
    return out;
  }
  const out = new Float64Array(count);
  let factor = 1;
  for (let plane = 0; plane < width; ++plane) {
    const at = offset + plane * count;
    for (let i = 0; i < count; ++i) out[i] += bytes[at + i] * factor;
    factor *= 256;
  }
  return out;
}
