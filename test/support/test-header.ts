import { readFileSync } from 'node:fs'

export const tiers = ['test', 'console', 'wall', 'torture'] as const
export type Tier = (typeof tiers)[number]
export type DatabaseName = 'SQLite' | 'PostgreSQL'

/** What a test file says of itself, in lines above its imports. */
export type TestHeader = {
  /** `tier: wall (why)`. Default `test`. A file with long rounds names `torture`, too. */
  tiers: readonly Tier[]
  /** `databases: SQLite and PostgreSQL`. Default SQLite. */
  databases: readonly DatabaseName[]
  /** `cpu: 60 s (why)`: what the file may use in `make test`. Default: the runner's budget. */
  cpuSeconds: number | undefined
}

const forms = {
  tier: /^(?<value>test|console|wall|test and torture|wall and torture) \([^()]+\)$/,
  databases: /^(?<value>SQLite and PostgreSQL|PostgreSQL)$/,
  cpu: /^(?<value>[1-9]\d*) s \([^()]+\)$/,
}
const examples: Record<keyof typeof forms, string> = {
  tier: '// tier: wall (its loops use every processor)',
  databases: '// databases: SQLite and PostgreSQL',
  cpu: '// cpu: 60 s (it starts forty hosts)',
}

export const readTestHeader = (file: string): TestHeader => parseTestHeader(readFileSync(file, 'utf8'), file)

/**
 * Reads the lines `// tier:`, `// databases:` and `// cpu:` of a test file. A line that is misspelled, repeated or below
 * the imports is an error: the file would silently run elsewhere.
 */
export function parseTestHeader(text: string, file: string): TestHeader {
  const values: Partial<Record<keyof typeof forms, string>> = {}
  let isHead = true
  for (const [index, line] of text.split('\n').entries()) {
    isHead &&= line === '' || line.startsWith('//')
    const [, word = '', said = ''] = /^\/\/\s*@?(\w+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    const name = word.toLowerCase()
    const fail = (problem: string) => new Error(`${file}:${index + 1}:1: ${problem}`)
    if (!isForm(name)) {
      if (isHead && word !== '') throw fail(`"${word}" is none of tier, databases and cpu`)
      continue
    }
    if (!isHead) throw fail(`"${name}" must stand above the imports`)
    if (values[name] !== undefined) throw fail(`"${name}" stands here twice`)
    const value = forms[name].exec(said)?.groups?.value
    if (value === undefined || word !== name) throw fail(`write it as in "${examples[name]}"`)
    values[name] = value
  }
  return {
    tiers: tiers.filter((tier) => (values.tier ?? 'test').split(' and ').includes(tier)),
    databases: (['SQLite', 'PostgreSQL'] as const).filter((name) =>
      (values.databases ?? 'SQLite').split(' and ').includes(name),
    ),
    cpuSeconds: values.cpu === undefined ? undefined : Number(values.cpu),
  }
}

const isForm = (name: string): name is keyof typeof forms => Object.hasOwn(forms, name)
