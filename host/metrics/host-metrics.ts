import { Gauge, type Registry } from 'prom-client'
import type { StorageState } from '../db/probe-storage.ts'

/** How the host, its disk and its installations are now. */
export type HostSnapshot = {
  version: string
  storage: StorageState
  installations: readonly { status: string; count: number }[]
}

export function registerHostMetrics(registry: Registry, now: () => HostSnapshot | undefined): void {
  gauge('annex_build_info', 'Always 1; the labels say what runs', ['version', 'node'], (set, { version }) =>
    set({ version, node: process.version }, 1),
  )
  gauge(
    'annex_storage_writable',
    '1 where the database takes writes, 0 as on a full disk',
    [],
    (set, { storage }) => set({}, storage.error === undefined ? 1 : 0),
  )
  gauge('annex_data_free_bytes', 'Room on the disk of the data folder', [], (set, { storage }) => {
    if (storage.freeBytes !== undefined) set({}, storage.freeBytes)
  })
  gauge('annex_installations', 'Installations', ['status'], (set, { installations }) => {
    for (const { status, count } of installations) set({ status }, count)
  })

  type Set = (labels: Record<string, string>, value: number) => void

  function gauge(
    name: string,
    help: string,
    labelNames: string[],
    read: (set: Set, now: HostSnapshot) => void,
  ): void {
    const metric = new Gauge({
      ...{ name, help, labelNames, registers: [registry] },
      collect() {
        metric.reset()
        const snapshot = now()
        if (snapshot !== undefined) read((labels, value) => metric.set(labels, value), snapshot)
      },
    })
  }
}
