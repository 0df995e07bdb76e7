import { api } from '../api.ts'
import { loadPerson } from '../person.ts'
import { me, question } from '../state.ts'
import { texts } from '../texts.ts'
import { Cancel } from './cancel.tsx'
import { Dialog } from './dialog.tsx'
import { OpenidBeside } from './openid-beside.tsx'
import { SignInForm, type WayIn } from './sign-in-form.tsx'

/** Dialogs above the page that a waiting request needs: nothing that was typed below is lost. */
export function Questions() {
  const asked = question.value
  if (asked === undefined) return null
  const { kind, answer } = asked
  const signedIn = async () => {
    await loadPerson()
    answer(true)
  }
  if (kind === 'confirm') {
    const confirm = async (way: WayIn) => {
      await api.call('POST /v1/sessions/current/confirmation', { body: way })
      answer(true)
    }
    return (
      <Dialog key="confirm" title={texts.confirm.title} onClose={() => answer(false)}>
        <p>{texts.confirm.why}</p>
        <SignInForm
          email={me.value?.account?.email ?? ''}
          enter={confirm}
          label={texts.confirm.action}
          openid={besideFor('confirm', signedIn)}
        />
        <Cancel act={() => answer(false)} />
      </Dialog>
    )
  }
  const enter = async (way: WayIn, email: string) => {
    await api.call('POST /v1/sessions', { body: 'password' in way ? { email, ...way } : way })
    await signedIn()
  }
  return (
    <Dialog key="sign-in" title={texts.signIn.again}>
      <p>{texts.signIn.ended(me.value?.account?.email ?? '')}</p>
      <SignInForm
        email={me.value?.account?.email}
        enter={enter}
        label={texts.signIn.action}
        openid={besideFor('sign_in', signedIn)}
      />
    </Dialog>
  )
}

/** For an account that has the OpenID provider: another person of it would be another account. */
function besideFor(purpose: 'sign_in' | 'confirm', onDone: () => void) {
  const linked = me.value?.account?.openid
  if (!linked) return undefined
  const button = (name: string) => <OpenidBeside purpose={purpose} name={name} onDone={onDone} />
  return { isOnly: linked.setsRoles, button }
}
