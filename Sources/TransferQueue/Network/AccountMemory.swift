import Synchronization
import TransferCore
import TransferJobs
import TransferUpload

/// The things that accounts may do on file servers, as long as a queue runs: the first upload into a folder finds them out,
/// and the others know.
final class AccountMemory: Sendable {
    private struct Key: Hashable {
        let origin: Origin
        /// Rights are often those of a folder.
        let folder: String
        let auth: JobSettings.Auth?
        let user: String?
    }

    private let known = Mutex<[Key: AccountAbilities]>([:])
    /// More folders than that are asked again.
    private static let most = 4096

    func abilities(_ spec: JobSpec) -> AccountAbilities {
        guard let key = Self.key(spec) else { return AccountAbilities() }
        return known.withLock { $0[key] ?? AccountAbilities() }
    }

    func learn(_ abilities: AccountAbilities, of spec: JobSpec) {
        guard let key = Self.key(spec) else { return }
        known.withLock { known in
            if known.count >= Self.most, known[key] == nil { known = [:] }
            known[key] = abilities
        }
    }

    private static func key(_ spec: JobSpec) -> Key? {
        guard let url = spec.urls.first, let origin = Origin(fileServerURL: url), let slash = url.lastIndex(of: "/")
        else { return nil }
        return Key(
            origin: origin, folder: String(url[..<slash]), auth: spec.settings.auth, user: spec.settings.ssh?.user)
    }
}
