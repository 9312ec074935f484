import type { ReadContext, SocialReadProvider } from '../provider/provider.js';
import type { User } from '../provider/model.js';
import type { Session } from './session.js';

/** Whose login we act with. Asked once: it does not change as long as the login does not. */
export type Me = (context: ReadContext) => Promise<User>;

export function createMe(session: Session, provider: SocialReadProvider): Me {
  let known: { readonly login: string; readonly user: User } | undefined;
  return async (context) => {
    const login = session.user?.login();
    if (known && known.login === login) return known.user;
    const { item: user } = await provider.getMe(undefined, context);
    // Somebody may have logged in meanwhile: then it is not known whose answer this is.
    if (login !== undefined && login === session.user?.login()) known = { login, user };
    return user;
  };
}
