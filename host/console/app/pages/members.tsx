import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { Invitation } from '../../../../schemas/generated/api/accounts.ts'
import type { Member } from '../../../../schemas/generated/api/members.ts'
import { api } from '../api.ts'
import { Action } from '../parts/action.tsx'
import { useAttempt } from '../parts/attempt.ts'
import { Cancel } from '../parts/cancel.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Head } from '../parts/head.tsx'
import { Loaded } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { reasonAgainst } from '../person.ts'
import { sayDone } from '../state.ts'
import { texts } from '../texts.ts'
import { useLoad } from '../use-load.ts'

const roles = ['reader', 'editor', 'admin'] as const
type Role = (typeof roles)[number]
const roleOptions = roles.map((value) => ({ value, label: texts.members.roles[value] }))
const toRole = (value: string): Role => roles.find((one) => one === value) ?? 'reader'

export default function MembersPage() {
  const { org = '' } = useRoute().params
  const { error, attempt } = useAttempt()
  const [shown, setShown] = useState<{ invitation: Invitation; email: string }>()
  const [removing, setRemoving] = useState<Member>()
  const list = useLoad(`members ${org}`, (signal) =>
    api.call('GET /v1/orgs/{org}/members', { params: { org }, query: { limit: 100 }, signal }),
  )
  const invite = async ({ id, email }: Member) => {
    // A person who does not confirm has a new member, and no link yet.
    list.reload()
    const params = { org, member: id }
    const invitation = await api.call('POST /v1/orgs/{org}/members/{member}/invitation', { params })
    setShown({ invitation, email })
  }
  const change = (member: Member, role: Role) =>
    attempt(async () => {
      await api.call('PATCH /v1/orgs/{org}/members/{member}', {
        params: { org, member: member.id },
        headers: { 'if-match': '*' },
        body: { role },
      })
      sayDone(texts.members.changed(member.email, role))
      list.reload()
    })
  const mayInvite = reasonAgainst('inviteMember')
  return (
    <>
      <Head
        title={texts.members.title}
        crumbs={[{ label: org, href: `/orgs/${org}` }, { label: texts.members.title }]}
      >
        {texts.members.what}
      </Head>
      {error !== undefined && <ErrorNote error={error} />}
      <Loaded of={list} isEmpty={({ items }) => items.length === 0} empty={<p>{texts.members.nothing}</p>}>
        {({ items }) => (
          <Table
            label={texts.members.title}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { title: texts.members.columns.email, kind: 'wide-cell', cell: ({ email }) => email },
              { title: texts.members.columns.name, cell: ({ name }) => <bdi>{name}</bdi> },
              {
                title: texts.members.columns.role,
                kind: 'wide-cell',
                cell: (member) =>
                  member.role === 'operator' ||
                  reasonAgainst('updateMemberInOrganizationById') !== undefined ? (
                    member.role
                  ) : (
                    <Choice
                      isHidden
                      label={texts.members.roleOf(member.email)}
                      value={member.role}
                      options={roles.map((value) => ({ value, label: value }))}
                      onValue={(role) => void change(member, toRole(role))}
                    />
                  ),
              },
              {
                title: texts.members.columns.state,
                kind: 'nowrap',
                cell: ({ account, createdAt }) =>
                  account ? (
                    <>
                      {texts.members.joined} <Time at={createdAt} />
                    </>
                  ) : (
                    texts.members.invited
                  ),
              },
              {
                title: texts.members.columns.actions,
                kind: 'nowrap',
                cell: (member) => (
                  <div class="row">
                    {!member.account && (
                      <Action kind="plain" act={() => attempt(() => invite(member))} reason={mayInvite}>
                        {texts.members.invite}
                        <span class="visually-hidden">{texts.members.inviteOf(member.email)}</span>
                      </Action>
                    )}
                    <Action
                      kind="plain"
                      act={() => setRemoving(member)}
                      reason={reasonAgainst('removeMemberFromOrganizationById')}
                    >
                      {texts.members.remove}
                      <span class="visually-hidden">{member.email}</span>
                    </Action>
                  </div>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <AddMember org={org} onAdded={invite} />
      {shown && (
        <Dialog title={texts.members.linkTitle(shown.email)} onClose={() => setShown(undefined)}>
          <p>{texts.members.linkWhat}</p>
          <pre>{shown.invitation.url}</pre>
          <div class="row">
            <CopyButton isLabelled text={shown.invitation.url} label={texts.members.copyLink} />
            <Action act={() => setShown(undefined)}>{texts.members.close}</Action>
          </div>
        </Dialog>
      )}
      {removing && (
        <RemoveMember
          org={org}
          member={removing}
          onEnd={() => {
            setRemoving(undefined)
            list.reload()
          }}
        />
      )}
    </>
  )
}

function AddMember({ org, onAdded }: { org: string; onAdded: (member: Member) => Promise<void> }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('reader')
  const add = async () => {
    const member = await api.call('POST /v1/orgs/{org}/members', { params: { org }, body: { email, role } })
    setEmail('')
    await onAdded(member)
  }
  const reason = reasonAgainst('addMemberToOrganizationById')
  return (
    <section class="card">
      <h2>{texts.members.add}</h2>
      <Form submit={add} label={texts.members.addAction} reason={reason}>
        <Field
          label={texts.email}
          type="email"
          autocomplete="off"
          required
          value={email}
          onValue={setEmail}
        />
        <Choice
          label={texts.members.role}
          value={role}
          options={roleOptions}
          onValue={(value) => setRole(toRole(value))}
        />
      </Form>
      {reason && <p class="muted small">{reason}</p>}
    </section>
  )
}

function RemoveMember({ org, member, onEnd }: { org: string; member: Member; onEnd: () => void }) {
  const [typed, setTyped] = useState('')
  const remove = async () => {
    await api.call('DELETE /v1/orgs/{org}/members/{member}', { params: { org, member: member.id } })
    sayDone(texts.members.removed(member.email))
    onEnd()
  }
  return (
    <Dialog title={texts.members.removeTitle(member.email)} onClose={onEnd}>
      <Form
        submit={remove}
        label={texts.members.removeOf(member.email)}
        kind="bad"
        reason={typed === member.email ? undefined : texts.members.removeWhat}
      >
        <p>{texts.members.removeWhat}</p>
        <Field label={texts.email} autocomplete="off" value={typed} onValue={setTyped} />
      </Form>
      <Cancel act={onEnd} />
    </Dialog>
  )
}
