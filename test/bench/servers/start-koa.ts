import { fileURLToPath } from 'node:url'
import { type MeasuredServer, startChild } from './measured-server.ts'

const script = fileURLToPath(new URL('koa-echo.ts', import.meta.url))

export async function startKoa(): Promise<MeasuredServer> {
  const { line, pid, close } = await startChild(process.execPath, [script], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  })
  return { name: 'Koa', urls: [line], pid, close }
}
