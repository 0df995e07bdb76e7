import { useState } from 'preact/hooks'
import type { Address } from '../../../../../schemas/client.ts'
import { toJson } from '../../../../../schemas/describe-schema.ts'
import type { Operation } from '../../../../../schemas/list-operations.ts'
import type { Parameter } from '../../../../../schemas/openapi.ts'
import { api } from '../../api.ts'
import { toCurl } from '../../deliveries/curl.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { Field } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { reasonAgainst } from '../../person.ts'
import { givenOf, isForPersons, isStream, type Typed, toRequest } from '../../reference/to-request.ts'
import { referenceTexts as words } from '../../texts/reference.ts'

type Shown = { status: number; ms: number; text: string }
const mostCharacters = 100_000

/** A form for an operation's request. It is sent with the session, or copied as a command. */
export function TryIt({ org, operation }: { org: string; operation: Operation }) {
  const { id, method, pathParameters, queryParameters, headerParameters, body, bodyExample } = operation
  const all = [...pathParameters, ...queryParameters, ...headerParameters]
  const required = all.filter((one) => one.required === true)
  const optional = all.filter((one) => one.required !== true)
  const [typed, setTyped] = useState<Typed>({
    parameters: { org },
    body: bodyExample === undefined ? '' : JSON.stringify(bodyExample, null, 2),
  })
  const [answer, setAnswer] = useState<Shown>()
  const send = async () => {
    setAnswer(undefined)
    setAnswer(await sendTyped(operation, typed))
  }
  const reason = isForPersons(operation) ? reasonAgainst(id) : words.scriptsOnly
  const toField = ({ name, required = false }: Parameter) => (
    <Field
      key={name}
      label={name}
      autocomplete="off"
      required={required}
      value={typed.parameters[name] ?? ''}
      onValue={(value) =>
        setTyped((before) => ({ ...before, parameters: { ...before.parameters, [name]: value } }))
      }
    />
  )
  return (
    <section class="card">
      <h2>{words.tryIt}</h2>
      <p class="muted small">{isStream(operation) ? words.stream : words.tryWhat(org)}</p>
      <Form
        submit={send}
        label={words.send(method)}
        kind={method === 'DELETE' ? 'bad' : 'main'}
        reason={isStream(operation) ? words.stream : reason}
      >
        {required.map(toField)}
        {body !== undefined && (
          <TextArea
            label={words.body}
            hint={words.bodyHint}
            value={typed.body}
            onValue={(text) => setTyped((before) => ({ ...before, body: text }))}
          />
        )}
        {optional.length > 0 && (
          <details>
            <summary>{required.length === 0 ? words.parameters : words.moreParameters}</summary>
            {optional.map(toField)}
          </details>
        )}
      </Form>
      <div>
        <CopyButton
          isLabelled
          kind=""
          text={toCurl(toRequest(operation, typed, location.origin))}
          label={words.copyCurl}
        />
      </div>
      {answer && (
        <div role="status">
          <p class="small">{words.answered(answer.status, answer.ms)}</p>
          <pre class="answer">{answer.text.slice(0, mostCharacters)}</pre>
          {answer.text.length > mostCharacters && (
            <p class="muted small">{words.cut(mostCharacters, answer.text.length)}</p>
          )}
        </div>
      )}
    </section>
  )
}

/** @throws Error for a body that is no JSON, and what `api.open` throws */
async function sendTyped(operation: Operation, typed: Typed): Promise<Shown> {
  const { method, path, pathParameters, queryParameters, headerParameters } = operation
  const began = performance.now()
  // The types of the client know each operation. This page knows it as text.
  const response = await api.open(`${method} ${path}` as Address, {
    params: givenOf(pathParameters, typed) as never,
    query: givenOf(queryParameters, typed) as never,
    headers: givenOf(headerParameters, typed),
    body: (typed.body === '' ? undefined : parseBody(typed.body)) as never,
  })
  const text = await readText(response)
  return { status: response.status, ms: Math.round(performance.now() - began), text }
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(words.invalidBody(error instanceof Error ? error.message : `${error}`))
  }
}

async function readText(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (!/^(?:text\/|application\/(?:json|javascript|x-ndjson))/.test(type)) {
    const { size } = await response.blob()
    return size === 0 ? words.nothing : words.bytes(size, type)
  }
  const text = await response.text()
  return type.startsWith('application/json') ? toJson(JSON.parse(text)) : text
}
