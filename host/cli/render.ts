import { type Command, InvalidArgumentError } from 'commander'
import type { Render } from '../../schemas/generated/api/dispatches.ts'
import { isJsonObject } from '../assert-json.ts'
import { findInstallation, findLevel, type LevelOptions, paramsOf } from './find-records.ts'
import { addLevelOptions, withExamples } from './options.ts'
import { openSession } from './session.ts'

type JsonObject = Record<string, unknown>
type Options = LevelOptions & Pick<Render, 'props' | 'state' | 'action'>

export function addRender(program: Command): void {
  const command = addLevelOptions(
    program
      .command('render')
      .description('render a component of an installation, and print its element tree as JSON')
      .argument('<installation>', 'id of the installation, or name of the integration')
      .argument('<component>', 'id of the component'),
    (kind) => `render in this ${kind}`,
  )
    .option('--props <json>', 'properties of the block', parseObject)
    .option('--state <json>', 'state of the last render', parseObject)
    .option('--action <json>', 'what a person did: {"action": "open"}', parseObject)
    .action(render)
  withExamples(command, [
    `annex render clips clip --props '{"url": "https://clips.example/watch/42"}'`,
    `annex render clips clip --space handbook --state '{"open": false}' --action '{"action": "open"}'`,
  ])
}

async function render(
  named: string,
  componentId: string,
  { org, site, space, ...given }: Options,
  command: Command,
): Promise<void> {
  const session = openSession(command)
  const options = { ...(org && { org }), ...(site && { site }), ...(space && { space }) }
  const installation = await findInstallation(session, named, options)
  const level = await findLevel(session, installation, options)
  const rendered = await session.api.call(
    'POST /v1/integrations/{integration}/installations/{installation}/render',
    { params: paramsOf(level), body: { componentId, ...given } },
  )
  session.terminal.printJson(rendered)
}

/** @throws InvalidArgumentError unless the text is a JSON object */
function parseObject(text: string): JsonObject {
  const value = parseJson(text)
  if (isJsonObject(value)) return value
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"name": "value"}'.`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
