import TransferCore
import TransferEngine

/// The destination of a download: a file, or a folder in which the server chooses the name.
package struct DownloadTarget: Sendable, Hashable {
    /// The absolute path.
    package let path: String
    package let isFolder: Bool

    /// The name in a folder where the server gives none; `nil` for the name in the URL.
    private let defaultName: String?

    package init(_ destination: String, directory: String, defaultName: String? = nil) {
        self.defaultName = defaultName
        let relative = destination.hasPrefix("./") ? destination.dropFirst(2) : destination[...]
        path = destination.hasPrefix("/") ? destination : (directory == "/" ? "" : directory) + "/" + relative
        isFolder = destination.hasSuffix("/")
    }

    /// Returns the path of the file that the URL, or a response with this Content-Disposition, names.
    package func file(url: String, disposition: String?) -> String {
        guard isFolder else { return path }
        let given = defaultName.flatMap { SafeFileName.make($0) }
        return NameLimit.fitted(path + SafeFileName.forDownload(url: url, disposition: disposition, default: given))
    }
}
