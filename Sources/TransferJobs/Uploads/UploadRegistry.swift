import Synchronization

/// The protocols that uploads may speak.
package final class UploadRegistry: Sendable {
    /// The protocols of this package, in the order of the manual page. A new protocol is a line here.
    package static let builtIn: [JobSpec.UploadProtocol] = [
        .put, .post, .multipart, .tus, .resumable, .s3, .ftp, .sftp,
    ]

    private static let registered = Mutex(UploadRegistry(builtIn))

    /// Every protocol that this process knows.
    package static var current: UploadRegistry { registered.withLock { $0 } }

    /// Makes a protocol known to the whole process, in place of one that has its name.
    package static func register(_ new: JobSpec.UploadProtocol) {
        registered.withLock { $0 = UploadRegistry($0.protocols.filter { $0 != new } + [new]) }
    }

    package let protocols: [JobSpec.UploadProtocol]
    /// Schemes of every URL that something can be moved from or to.
    package let urlSchemes: [String]
    private let byName: [String: JobSpec.UploadProtocol]
    private let byScheme: [String: JobSpec.UploadProtocol]

    package init(_ protocols: [JobSpec.UploadProtocol]) {
        self.protocols = protocols
        urlSchemes = ["http", "https"] + protocols.flatMap(\.entry.urls.schemes)
        byName = Dictionary(protocols.map { ($0.rawValue, $0) }) { $1 }
        byScheme = Dictionary(protocols.flatMap { one in one.entry.urls.schemes.map { ($0, one) } }) { $1 }
    }

    package func named(_ name: String) -> JobSpec.UploadProtocol? { byName[name] }

    /// The protocol of a URL's scheme; `nil` for HTTP's, and for a URL that can't be used.
    package func claiming(_ url: String) -> JobSpec.UploadProtocol? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8),
            let found = byScheme[url[..<colon].lowercased()], found.entry.urls.isWellFormed(url)
        else { return nil }
        return found
    }

    /// The protocols that have a key of the job file which not every one has.
    package func names(having key: String) -> [String] {
        protocols.filter { $0.entry.keys.contains(key) }.map(\.rawValue).sorted()
    }
}
