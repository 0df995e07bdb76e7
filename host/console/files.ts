import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Context, Middleware } from 'koa'
import { AnnexError } from '../errors.ts'
import type { RateLimits } from '../http/rate-limits.ts'
import { assetsFolderOf, buildConsole, type ConsoleBuild } from './build.ts'
import { fileHeaders, pageHeadersFor } from './policy.ts'

type Built = { digest: string; page: string; files: Files }
/** By name: `main-X.js`, and beside it `main-X.js.br` and `main-X.js.gz`. */
type Files = ReadonlyMap<string, Buffer>

/** `load` builds the page and the files once. @throws AnnexError `console_broken` */
export type Console = { load: () => Promise<Built> }

/** The build begins with the first request for it: a start does not wait for it. */
export function createConsole(cacheFolder: string): Console {
  let loading: Promise<Built> | undefined
  return {
    load() {
      loading ??= loadBuild(cacheFolder).catch((error) => {
        loading = undefined
        throw error
      })
      return loading
    },
  }
}

export type ConsoleParts = { console: Console; rateLimits: Pick<RateLimits, 'countVisitor'> }

/** Answers a browser that opens a page of the console, and requests for its files. */
export function answerConsole({ console, rateLimits }: ConsoleParts): Middleware {
  return async (context, next) => {
    const isRead = context.method === 'GET' || context.method === 'HEAD'
    const isFile = context.path.startsWith('/assets/')
    if (!isRead || !(isFile || isNavigation(context))) return next()
    await rateLimits.countVisitor(context, 'console')
    const built = await console.load()
    return isFile ? sendFile(context, built) : sendPage(context, built)
  }
}

async function loadBuild(cacheFolder: string): Promise<Built> {
  const built = await buildConsole(cacheFolder)
  return { digest: built.digest, page: toPage(built), files: await readFiles(assetsFolderOf(cacheFolder)) }
}

/** All builds of a day are some hundred KiB. In memory they outlive a cache folder that is emptied while Annex runs. */
async function readFiles(folder: string): Promise<Files> {
  const names = (await readdir(folder)).filter((name) => /\.(?:js|css)(?:\.(?:br|gz))?$/.test(name))
  const read = async (name: string) => [name, await readFile(path.join(folder, name))] as const
  return new Map(await Promise.all(names.map(read)))
}

const ownPaths = /^\/(?:v1|x|connect|assets)(?:\/|$)/

/**
 * A browser that opens a page asks for HTML first. A program gets the JSON answer of an address that does not exist. `/` has no
 * other answer.
 */
const isNavigation = (context: Context): boolean =>
  context.path === '/' || (!ownPaths.test(context.path) && context.accepts('json', 'html') === 'html')

/** The ETag names the build: an open tab asks for it, to know that the host has a newer one. */
function sendPage(context: Context, { page, digest }: Built): void {
  context.set(pageHeadersFor(context.req))
  context.set('etag', `"${digest}"`)
  context.type = 'html'
  context.status = 200
  if (context.fresh) context.status = 304
  else context.body = page
}

/** @throws AnnexError `not_found` */
function sendFile(context: Context, { files }: Built): void {
  const name = context.path.slice('/assets/'.length)
  const ending = { br: '.br', gzip: '.gz', identity: '' }[encodingFor(context)]
  const content = /\.(?:js|css)$/.test(name) ? files.get(name + ending) : undefined
  if (content === undefined) {
    const text = `The console has no file ${context.path}. Reload the page: Annex may have a newer one.`
    throw new AnnexError('not_found', text)
  }
  context.set(fileHeaders)
  context.type = path.extname(name)
  context.body = content
  if (ending !== '') context.set('content-encoding', ending === '.br' ? 'br' : 'gzip')
}

const encodingFor = (context: Context): 'br' | 'gzip' | 'identity' =>
  (context.acceptsEncodings('br', 'gzip', 'identity') || 'identity') as 'br' | 'gzip' | 'identity'

/** No text of a record or a request is in it. */
const toPage = ({ digest, script, style }: ConsoleBuild): string => `<!doctype html>
<html lang="en" data-build="${digest}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Annex</title>
<link rel="icon" href="data:image/svg+xml,${icon}">
<link rel="stylesheet" href="${style}">
<link rel="preload" as="fetch" href="/v1/me" crossorigin>
<script type="module" src="${script}"></script>
</head>
<body>
<noscript>The console of Annex runs in the browser and needs JavaScript. The command line does the same: npx annex --help</noscript>
</body>
</html>
`

const icon = encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='8' fill='#4338ca'/><path d='M9 22V10h6v12m2 0v-7h6v7' stroke='#fff' stroke-width='2.5' fill='none'/></svg>",
)
