import type { TestContext } from 'node:test'
import { formatProblem } from '../../host/manifest/problem.ts'
import { type ManifestReading, readManifest } from '../../host/manifest/read-manifest.ts'
import { createFolder } from '../bundle/plugin-folder.ts'

export const options = {
  operatorOrganization: 'home',
  operatorOrganizationId: 'org_1',
  environment: { LINEAR_CLIENT_ID: 'x', PLUGIN_SAMPLE__KEY: 'x', PLUGIN_SAMPLE_TWO__KEY: 'x', EMPTY: '' },
}

/** The first lines of a manifest with nothing wrong in it: seven lines, so that what a test adds begins on line 8. */
export const sound = `name: sample
title: Sample
description: A sample.
organization: home
visibility: private
scopes:
  - site:views:read
`

/** Reads a manifest that lies in a folder of its own, with other files beside it. */
export async function read(
  t: TestContext,
  manifest: string | Uint8Array,
  files: Record<string, string | Uint8Array> = {},
): Promise<ManifestReading> {
  const folder = await createFolder(t, { 'service-manifest.yaml': manifest, ...files })
  return await readManifest(folder, options)
}

/** Every problem as its text, the folder left out. */
export const textsOf = ({ problems }: Pick<ManifestReading, 'problems'>): string[] =>
  problems.map((problem) =>
    formatProblem({ ...problem, file: problem.file.replace(/^.*annex-test-\w+\//, '') }, { color: false }),
  )
