import Glibc
import TransferQueue

/// An event of a watched folder, with the folder and the time.
struct WatchNotice: Sendable {
    /// The time in milliseconds since 1970.
    var time: Int64
    var folder: String
    var kind: Kind

    enum Kind: Sendable {
        /// The watch begins; the URL is the destination of its files.
        case begins(url: String)
        case reported(WatchedFolderEvent)
        /// The watch has ended.
        case ended
    }

    /// Whether a reader of the output should get the event at once; in a burst of files its end is enough.
    var isUrgent: Bool {
        switch kind {
        case .reported(.confirmed): false
        case .reported(.backlog(let waiting, _)): waiting == 0
        default: true
        }
    }

    var batch: String { WatchBatch.name(of: folder) }
}

/// The batches of files in watched folders.
enum WatchBatch {
    private static let prefix = "watch:"

    static func name(of folder: String) -> String { prefix + folder }

    /// Returns the folder of a batch.
    ///
    /// - Returns: `nil` for other batches: a job file's name has no slash, and its path begins with one. A folder
    ///   of another machine has the machine's name behind it.
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
