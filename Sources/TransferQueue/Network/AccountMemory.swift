import Synchronization
import TransferCore
import TransferJobs
import TransferUpload

/// A memory of the abilities of accounts on file servers while a queue runs. The first upload into a folder finds them
/// out for all later ones.
final class AccountMemory: Sendable {
    private struct Key: Hashable {
        let origin: Origin
        /// The folder of the upload, because rights often differ by folder.
        let folder: String
        let auth: JobSettings.Auth?
        let user: String?
    }

    private let known = Mutex<[Key: AccountAbilities]>([:])
    /// The most entries; beyond that, the memory starts empty and servers are asked again.
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
