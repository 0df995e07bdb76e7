import { findImported } from './imports.ts'

/**
 * `node scripts/walks.ts`: the files that a request and a delivery pass, by static import from the files where the flows of
 * ARCHITECTURE.md begin.
 */
const walks = {
  'a request to its answer': ['host/endpoints/endpoints.ts', 'runtime/process/main.ts'],
  'an event to a settled delivery': [
    'host/events/publish-event.ts',
    'host/queue/worker.ts',
    'host/events/run-event.ts',
    'host/webhooks/delivery-call.ts',
    'host/webhooks/run-delivery.ts',
  ],
}

for (const [name, begins] of Object.entries(walks)) {
  const found = findImported(begins, ({ isType, isLater }) => !isType && !isLater)
  const paths = [...found].filter((path) => /^(host|runtime|schemas)\//.test(path)).toSorted()
  console.log(`${name}: ${paths.length} files`)
  for (const path of paths) console.log(`  ${path}`)
}
