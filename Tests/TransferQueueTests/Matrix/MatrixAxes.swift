import Testing

/// The first axis: the kind of transfer.
enum MatrixWay: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// A download from the first byte on, into a file that does not exist.
    case plain = "plain download"
    /// A download over an existing file, because its server has a different version.
    case conditional = "conditional download"
    /// A download that continues the bytes of an earlier run.
    case resumed = "resumed download"
    case put = "PUT"
    case post = "POST"
    case tus
    case ietf = "IETF resumable upload"
    /// An upload to S3 in one request.
    case s3 = "S3, one request"
    case s3Parts = "S3, parts"
    case ftp = "FTP upload"
    case sftp = "SFTP upload"
    /// A file of a watched folder, sent with PUT.
    case watch = "watched folder"
    /// A copy whose source has the fault, and whose destination cannot resume.
    case copyToPut = "copy to PUT, its source"
    case copyToTus = "copy to tus, its source"

    var testDescription: String { rawValue }
    var isDownload: Bool { [.plain, .conditional, .resumed].contains(self) }
}

/// The third axis: the moment of the fault.
enum MatrixMoment: String, CaseIterable, Sendable {
    /// The moment at which nothing was transferred, or one byte of the bytes that an earlier run held.
    case first = "first byte"
    case middle = "middle"
    /// The moment at which all but one byte were transferred.
    case last = "last byte"
    /// The moment at which all bytes are there, and the record has not been written.
    case after = "before the record"
}

/// The meaning of a fault for the transfer, and so its required outcome.
enum MatrixNature: Sendable, Hashable {
    /// The transfer ends right, in whichever way.
    case passing
    /// The transfer cannot continue: a clear failure whose message contains that text, and the right end once the fault
    /// is removed.
    case final(String)
    /// Either outcome is right: the order of two events is not under the client's control.
    case either

    /// Returns the fault of a failure with this message; `nil` where the failure is right.
    func fault(ofFailure words: String) -> String? {
        switch self {
        case .passing: return "failed, though it passes: \(words)"
        case .final(let word):
            let isSaid = word.isEmpty || words.lowercased().contains(word.lowercased())
            return isSaid ? nil : "it does not say \(word): \(words)"
        case .either: return nil
        }
    }

    /// The fault of a successful end; `nil` where the success is right.
    var faultOfSuccess: String? {
        if case .final(let word) = self { "complete, in spite of \(word.isEmpty ? "everything" : word)" } else { nil }
    }
}

/// The outcome of a cell.
struct MatrixOutcome: Sendable, Equatable {
    /// The text of the outcome in the table.
    var text: String
    /// The faults of the outcome, each in a line; nothing else makes a cell fail.
    var faults: [String] = []

    /// Returns the outcome for the table, which names both ends where either may occur.
    func of(_ nature: MatrixNature) -> MatrixOutcome {
        var outcome = self
        if nature == .either { outcome.text = "right, or fails, then right" }
        return outcome
    }
}

/// A cell of the table.
struct MatrixCell: Sendable {
    let way: MatrixWay
    let fault: String
    let moment: MatrixMoment
    /// The reason why the cell is left out: the combination does not exist, or it could not be judged.
    var leftOut: String?
    let run: @Sendable (MatrixBench) async throws -> MatrixOutcome

    var name: String { "\(way.rawValue) × \(fault) × \(moment.rawValue)" }

    static func all(_ way: MatrixWay) -> [MatrixCell] {
        switch way {
        case .plain, .conditional, .resumed: DownloadCell.cells(way)
        case .put, .post, .tus, .ietf, .s3, .s3Parts: UploadCell.cells(way)
        case .ftp: FTPCell.cells()
        case .sftp: SFTPCell.cells()
        case .watch: WatchCell.cells()
        case .copyToPut, .copyToTus: CopyCell.cells(way)
        }
    }

    /// Whether the cell is in the short run: always the same cells, spread over all of them.
    var isInShortRun: Bool {
        name.utf8.reduce(5381) { ($0 &* 33 &+ Int($1)) & 0xFFFF_FFFF } % 16 == 0
    }
}
