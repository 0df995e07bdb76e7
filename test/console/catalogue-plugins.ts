import { crc32, deflateSync } from 'node:zlib'
import type { PluginSource } from '../support/plugin-folder.ts'

/** A PNG of one grey that a browser draws. */
export function drawPng(width: number, height: number, grey: number): Uint8Array {
  const row = Buffer.alloc(width + 1, grey)
  row[0] = 0
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

const script = `
import { createIntegration } from '@annex/runtime'
export default createIntegration({ fetch: () => new Response('here') })`

const manifest = (name: string, lines: string): string => `name: ${name}\norganization: home\n${lines}`

/** A plugin folder with these lines in its manifest. */
export const plugin = (name: string, lines: string, files: PluginSource['files'] = {}): PluginSource => ({
  script,
  files: { 'service-manifest.yaml': manifest(name, lines), ...files },
})

/** An integration with all that its page shows. */
export const shop = (scopes: string, more = ''): PluginSource =>
  plugin(
    'shop',
    `title: Shop of words
description: Counts what readers search for, and tells your shop.
visibility: public
scopes: [${scopes}]
script: ./index.ts
egress: [api.shop.example]
icon: icon.png
previewImages: [one.png, two.png]
categories: [analytics, marketing]
externalLinks:
  - { label: Handbook, url: 'https://handbook.example/' }
blocks:
  - { id: chart, title: Chart, description: What readers look for. }
summary: |
  # What it does

  It **counts** words, and <b onclick="alert(1)">sends</b> them:

  - each hour
  - with a [key](https://shop.example/key), not a [script](javascript:alert(1))

  ![A chart](https://pictures.example/chart.png) ![Its own](./one.png)
configurations:
  site:
    properties:
      shop: { type: string, title: Shop }
    required: [shop]
${more}`,
    {
      'icon.png': drawPng(64, 64, 90),
      'one.png': drawPng(1600, 800, 120),
      'two.png': drawPng(1600, 800, 190),
    },
  )
