type Asked = { url: string; method: string; headers: [string, string][] }
type Echo = { headers: [string, string][]; body: Uint8Array }

const nothing = new Uint8Array()
const plain: [string, string] = ['content-type', 'text/plain']

/** The handlers of the test suite's server that only send back what came, or a fixed text, by their file name. */
const handlers: Record<string, (asked: Asked, body: Uint8Array) => Echo> = {
  'echo-content.py': (_asked, body) => ({ headers: [plain], body }),
  'inspect-headers.py': ({ url, headers }) => {
    const names = (new URL(url).searchParams.get('headers') ?? '').split('|')
    const found = names.flatMap((name) =>
      headers.filter(([given]) => given === name.toLowerCase()).map(([, value]) => [name, value] as const),
    )
    return {
      headers: [plain, ...found.map(([name, value]): [string, string] => [`x-request-${name}`, value])],
      body: nothing,
    }
  },
  'trickle.py': ({ url }) => {
    const count = Number(new URL(url).searchParams.get('count') ?? 50)
    return { headers: [plain], body: new TextEncoder().encode('TEST_TRICKLE\n'.repeat(count)) }
  },
}

/** The answer of one of them; `undefined` where the path names none. */
export const echoOf = (asked: Asked, body: ArrayBuffer | undefined): Echo | undefined => {
  const name = new URL(asked.url).pathname.split('/').at(-1) ?? ''
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
  return handler?.(asked, body === undefined ? nothing : new Uint8Array(body))
}
