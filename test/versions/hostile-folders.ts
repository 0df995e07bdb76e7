import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const maxLength = 250 * 1024

/** As many lines as fit into the largest manifest. */
function fill(toLine: (index: number) => string, most = Number.POSITIVE_INFINITY): string {
  const lines: string[] = []
  for (let length = 0; lines.length < most; ) {
    const next = toLine(lines.length)
    length += next.length + 1
    if (length > maxLength) break
    lines.push(next)
  }
  return lines.join('\n')
}

const sound = (name: string) => `name: ${name}
title: T
description: D
organization: home
visibility: private
scopes: []
script: index.ts
`

const level = (name: string) => `${sound(name)}configurations:\n  account:\n    properties:\n`

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

const setting = (index: number, choices: string) =>
  `      s${index}: { type: string, title: T, enum: ${choices} }`

/** Manifests that take as long to read and to check as they can, each in a way of its own. */
const kinds: Record<string, (name: string) => string> = {
  unknownFields: (name) => sound(name) + fill((index) => `unknown_${index}: [1, 2]`, 6000),
  wrongLinks: (name) =>
    `${sound(name)}externalLinks:\n${fill(() => '  - { label: 1, url: javascript:x }', 6000)}`,
  deep: (name) => `${sound(name)}blocks: ${'[{a: '.repeat(13)}${'[],'.repeat(60_000)}`,
  secrets: (name) => `${sound(name)}secrets:\n${fill((index) => `  K_${index}: "\${{ env.A_${index} }}"`)}`,
  bomb: (name) =>
    `${sound(name)}a: &a [${'x,'.repeat(99)}x]\nb: &b [${'*a,'.repeat(99)}*a]\nc: [${'*b,'.repeat(99)}*b]\n`,
  manyChoices: (name) =>
    level(name) +
    fill((index) => setting(index, `[${numbers(90).map((choice) => `c${index}_${choice}`)}]`), 200),
  longChoices: (name) =>
    level(name) +
    fill((index) => {
      if (index > 0) return setting(index, '*all')
      return setting(index, `&all [${numbers(500).map((choice) => choice + 'x'.repeat(190))}]`)
    }, 36),
  sameName: () => `${sound('the-same-name')}summary: |\n${fill(() => '  a line', 200)}`,
  sameKey: (name) => fill(() => `name: ${name}`),
}

/** Twice the same declaration is an error, of which there are thousands. */
const script = `${'const a = "/*"\n'.repeat(2000)}createIntegration({})`

/** Writes that many hostile plugin folders, of each kind in turn. */
export function writeHostileFolders(pluginsDir: string, count: number): void {
  const all = Object.entries(kinds)
  for (const index of numbers(count)) {
    const [kind, toManifest] = all[index % all.length] ?? ['', () => '']
    const name = `hostile-${kind.toLowerCase()}-${index}`
    const folder = join(pluginsDir, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'service-manifest.yaml'), toManifest(name))
    writeFileSync(join(folder, 'index.ts'), script)
  }
}
