import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const [, flows = ''] = page.split('## Three flows')
const steps = [...(flows.split('\n## ')[0] ?? '').matchAll(/^ *(\w+) +(host\/\S+\.ts)/gm)]

describe('the flows of ARCHITECTURE.md', () => {
  it('are three, with at least 24 steps', () => {
    assert.equal((flows.split('\n## ')[0] ?? '').match(/^\*\*/gm)?.length, 3)
    assert.ok(steps.length >= 24, `${steps.length} steps`)
  })

  for (const [, name = '', file = ''] of steps) {
    it(`${name} is a function of ${file}`, () => {
      const text = readFileSync(join(root, file), 'utf8')
      const defined = new RegExp(`function ${name}\\b|const ${name} =|^ +(?:async )?${name}[:(]`, 'm')
      assert.match(text, defined)
    })
  }
})

describe('the rooms of ARCHITECTURE.md', () => {
  const rooms = [...page.matchAll(/^\| `(\w+)\/` \| (.+?) \|/gm)]

  it('are the folders of host/', () => {
    const folders = readdirSync(join(root, 'host'), { withFileTypes: true }).filter((one) =>
      one.isDirectory(),
    )
    assert.deepEqual(rooms.map(([, room]) => room).toSorted(), folders.map(({ name }) => name).toSorted())
  })

  it('have the files that the table names', () => {
    for (const [, room = '', files = ''] of rooms) {
      for (const [, file = ''] of files.matchAll(/`([\w./-]+)`/g)) {
        assert.ok(existsSync(join(root, 'host', room, file)), `host/${room}/${file}`)
      }
    }
  })
})
