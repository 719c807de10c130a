import Synchronization

/// The protocols that uploads may speak.
final class UploadRegistry: Sendable {
    /// Those of this package, in the order of the manual page. A new protocol is a line here.
    static let builtIn: [JobSpec.UploadProtocol] = [.put, .post, .multipart, .tus, .resumable, .s3, .ftp, .sftp]

    private static let registered = Mutex(UploadRegistry(builtIn))

    /// Every protocol that this process knows.
    static var current: UploadRegistry { registered.withLock { $0 } }

    /// Makes a protocol known to the whole process, in place of one that has its name.
    static func register(_ new: JobSpec.UploadProtocol) {
        registered.withLock { $0 = UploadRegistry($0.protocols.filter { $0 != new } + [new]) }
    }

    let protocols: [JobSpec.UploadProtocol]
    /// Keys of the job file that not every protocol has, in its order, and the names of those that have them.
    let owners: [(key: JobKey, names: Set<String>)]
    /// A bit for each of those keys.
    let ownedKeys: UInt64
    /// Secrets that the protocols' settings may hold.
    let secrets: [SettingsSecret]
    /// Schemes of every URL that something can be moved from or to.
    let urlSchemes: [String]
    private let byName: [String: JobSpec.UploadProtocol]
    private let byScheme: [String: JobSpec.UploadProtocol]

    init(_ protocols: [JobSpec.UploadProtocol]) {
        self.protocols = protocols
        owners = JobKey.allCases.compactMap { key in
            let names = protocols.filter { $0.entry.keys.contains(key) }.map(\.rawValue)
            return names.isEmpty ? nil : (key, Set(names))
        }
        ownedKeys = JobKey.mask(of: owners.map(\.key))
        secrets = protocols.flatMap(\.entry.secrets)
        urlSchemes = ["http", "https"] + protocols.flatMap(\.entry.schemes)
        byName = Dictionary(protocols.map { ($0.rawValue, $0) }) { $1 }
        byScheme = Dictionary(protocols.flatMap { one in one.entry.schemes.map { ($0, one) } }) { $1 }
    }

    func named(_ name: String) -> JobSpec.UploadProtocol? { byName[name] }

    /// The protocol of a URL's scheme; `nil` for HTTP's, and for a URL that can't be used.
    func claiming(_ url: String) -> JobSpec.UploadProtocol? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8),
            let found = byScheme[url[..<colon].lowercased()], found.entry.isWellFormed(url)
        else { return nil }
        return found
    }

    /// Keys of the job file that a protocol doesn't have, and the names of those that do.
    func foreignKeys(of one: JobSpec.UploadProtocol) -> [(key: JobKey, names: Set<String>)] {
        owners.filter { !$0.names.contains(one.rawValue) }
    }
}
