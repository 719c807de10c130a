import Synchronization
import TransferCore

/// The users whom file servers let in, as long as an engine lives.
///
/// FTP refuses a login by 530 both for a wrong password and for one connection too many. The two are told apart by what
/// was before: who has been let in with the same credentials isn't unknown now.
final class AcceptedLogins: Sendable {
    private struct Login: Hashable {
        let origin: Origin
        let account: FileServerAccount
    }

    private let logins = Mutex<Set<Login>>([])

    func worked(_ settings: ExchangeSettings, at origin: Origin) {
        let login = Login(origin: origin, account: FileServerAccount(settings))
        logins.withLock { _ = $0.insert(login) }
    }

    func hasWorked(_ settings: ExchangeSettings, at origin: Origin) -> Bool {
        let login = Login(origin: origin, account: FileServerAccount(settings))
        return logins.withLock { $0.contains(login) }
    }
}
