import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUniqueNames } from '../../host/versions/names-and-owners.ts'
import { read, sound, textsOf } from '../manifest/reading.ts'

test('a name of two folders, in any letter case, is an error in both', async (t) => {
  const readings = [
    await read(t, sound),
    await read(t, sound.replace('sample', 'SAMPLE')),
    await read(t, sound.replace('sample', 'other')),
  ]
  const [first, second, third] = checkUniqueNames(readings)
  assert.ok(first && second && third)
  assert.match(
    textsOf(first).join(),
    /^service-manifest\.yaml:1:7 error the name "sample" is also that of .*service-manifest\.yaml$/m,
  )
  assert.ok(first.problems[0]?.message.includes(second.file))
  assert.ok(second.problems[0]?.message.includes(first.file))
  assert.deepEqual([first.manifest, second.manifest], [undefined, undefined])
  assert.equal(third.manifest?.name, 'other')
})

test('unique names and folders without a valid manifest stay unchanged', async (t) => {
  const readings = [await read(t, sound), await read(t, ''), await read(t, '')]
  assert.deepEqual(checkUniqueNames(readings), readings)
})
