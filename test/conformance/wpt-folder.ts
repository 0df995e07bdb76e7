import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** The name of the server that the test suite would have; nothing listens there, the folder answers. */
export const wptHost = 'web-platform.test'

const ports: Record<string, [string, string]> = {
  http: ['8000', '8001'],
  https: ['8443', '8444'],
  ws: ['8666', '8667'],
}
const types: Record<string, string> = {
  '.json': 'application/json',
  '.js': 'text/javascript',
  '.html': 'text/html',
  '.txt': 'text/plain',
  '.png': 'image/png',
}

/** A file of the checkout as the suite's own server would send it; `undefined` where there is none. */
export const readServed = async (wptFolder: string, pathname: string): Promise<Buffer | undefined> => {
  const file = path.join(wptFolder, path.posix.normalize(servedPath(decodeURIComponent(pathname))))
  if (!file.startsWith(path.resolve(wptFolder) + path.sep)) return undefined
  try {
    const bytes = await readFile(file)
    return /\.sub\./.test(file) ? Buffer.from(substitute(bytes.toString('utf8'))) : bytes
  } catch {
    return undefined
  }
}

export const contentTypeOf = (pathname: string): string =>
  types[path.posix.extname(pathname)] ?? 'application/octet-stream'

const servedPath = (pathname: string): string =>
  pathname === '/resources/WebIDLParser.js' ? '/resources/webidl2/lib/webidl2.js' : pathname

/** The few templates of wptserve that scripts without Python use. */
const substitute = (text: string): string =>
  text
    .replace(/\{\{host\}\}/g, wptHost)
    .replace(
      /\{\{ports\[(\w+)\]\[(\d)\]\}\}/g,
      (_, scheme: string, index: string) => ports[scheme]?.[+index] ?? '0',
    )
    .replace(/\{\{domains\[(\w*)\]\}\}/g, (_, name: string) => (name === '' ? wptHost : `${name}.${wptHost}`))
    .replace(/\{\{hosts\[alt\]\[(\w*)\]\}\}/g, (_, name: string) => `${name}${name && '.'}not-${wptHost}`)
