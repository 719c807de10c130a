import Glibc
import TransferQueue

/// What a watched folder told, with where and when.
struct WatchNotice: Sendable {
    /// Milliseconds since 1970.
    var time: Int64
    var folder: String
    var kind: Kind

    enum Kind: Sendable {
        /// Begins to be watched; where its files go.
        case begins(url: String)
        case reported(WatchedFolderEvent)
        /// Isn't watched any more.
        case ended
    }

    /// Whether whoever reads along should have it at once; in a burst of files it's enough at its end.
    var isUrgent: Bool {
        switch kind {
        case .reported(.confirmed): false
        case .reported(.backlog(let waiting, _)): waiting == 0
        default: true
        }
    }

    var batch: String { WatchBatch.name(of: folder) }
}

/// The batches that files of watched folders are in.
enum WatchBatch {
    private static let prefix = "watch:"

    static func name(of folder: String) -> String { prefix + folder }

    /// - Returns: `nil` for other batches: a job file's name has no slash, and its path begins with one. A folder of another
    ///   machine has that one's name behind it.
    static func folder(of batch: String) -> String? {
        guard batch.hasPrefix(prefix + "/") else { return nil }
        let folder = batch.dropFirst(prefix.count)
        return String(folder.hasSuffix(ofThisMachine) ? folder.dropLast(ofThisMachine.count) : folder)
    }

    private static let ofThisMachine: String = {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        return "@" + String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
