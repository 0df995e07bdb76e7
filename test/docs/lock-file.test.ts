import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

type Locked = { optionalDependencies?: Record<string, string>; resolved?: string; link?: true }

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8')

it('the lock file has the binaries of all platforms, and no registry', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  )
  assert.ok(wanted.length > 50)
  const missing = wanted.filter((name) => packages[`node_modules/${name}`] === undefined)
  assert.deepEqual(missing, [])
  // npm would add the address of each package without this.
  assert.match(read('.npmrc'), /^omit-lockfile-registry-resolved=true$/m)
  const named = Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && !link)
  assert.deepEqual(named, [])
})
