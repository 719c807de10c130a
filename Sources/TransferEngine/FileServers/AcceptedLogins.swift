import Synchronization
import TransferCore

/// The logins that file servers have accepted, for the life of an engine.
///
/// FTP refuses a login by 530 both for a wrong password and for one connection too many. Earlier logins distinguish the
/// two: credentials that were accepted before are still valid.
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
