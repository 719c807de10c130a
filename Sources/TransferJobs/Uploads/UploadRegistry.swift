import Synchronization

/// The registry of upload protocols.
package final class UploadRegistry: Sendable {
    /// The protocols of this package, in the order of the manual page. A new protocol is a line here.
    package static let builtIn: [JobSpec.UploadProtocol] = [
        .put, .post, .multipart, .tus, .resumable, .s3, .ftp, .sftp,
    ]

    private static let registered = Mutex(UploadRegistry(builtIn))

    /// The registry with all protocols that this process knows.
    package static var current: UploadRegistry { registered.withLock { $0 } }

    /// Registers a protocol for the whole process; it replaces one with the same name.
    package static func register(_ new: JobSpec.UploadProtocol) {
        registered.withLock { $0 = UploadRegistry($0.protocols.filter { $0 != new } + [new]) }
    }

    package let protocols: [JobSpec.UploadProtocol]
    /// The schemes of all URLs that can be the source or destination of a transfer.
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

    /// Returns the protocol that a URL's scheme implies; `nil` for HTTP URLs, and for an invalid URL.
    package func claiming(_ url: String) -> JobSpec.UploadProtocol? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8),
            let found = byScheme[url[..<colon].lowercased()], found.entry.urls.isWellFormed(url)
        else { return nil }
        return found
    }

    /// Returns the protocols that have a key of the job file which others lack.
    package func names(having key: String) -> [String] {
        protocols.filter { $0.entry.keys.contains(key) }.map(\.rawValue).sorted()
    }
}
