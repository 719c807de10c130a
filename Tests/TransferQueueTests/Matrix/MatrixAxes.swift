import Testing

/// The first axis: what is transferred, and how.
enum MatrixWay: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// From the first byte on, into a file that isn't there.
    case plain = "plain download"
    /// A file that is there is fetched anew where its server has another version.
    case conditional = "conditional download"
    /// Bytes are held that an earlier run fetched.
    case resumed = "resumed download"
    case put = "PUT"
    case post = "POST"
    case tus
    case ietf = "IETF resumable upload"
    /// One request.
    case s3 = "S3, one request"
    case s3Parts = "S3, parts"
    case ftp = "FTP upload"
    case sftp = "SFTP upload"
    /// A file of a watched folder, put.
    case watch = "watched folder"
    /// The source of a copy goes wrong, and its destination can't be gone on with.
    case copyToPut = "copy to PUT, its source"
    case copyToTus = "copy to tus, its source"

    var testDescription: String { rawValue }
    var isDownload: Bool { [.plain, .conditional, .resumed].contains(self) }
}

/// The third axis: when it goes wrong.
enum MatrixMoment: String, CaseIterable, Sendable {
    /// Nothing was transferred, or one byte of what an earlier run held.
    case first = "first byte"
    case middle = "middle"
    /// All but one byte.
    case last = "last byte"
    /// All bytes are there, and nobody has recorded it.
    case after = "before the record"
}

/// What a fault says about the transfer, and so what has to come of it.
enum MatrixNature: Sendable, Hashable {
    /// The transfer's end is right, by whichever way.
    case passing
    /// Nobody can go on: a clear failure with that in its words, and the right end once the fault is gone.
    case final(String)
    /// Either of them: which of two things happens first isn't ours to say.
    case either

    /// What is wrong with a failure in these words.
    func fault(ofFailure words: String) -> String? {
        switch self {
        case .passing: return "failed, though it passes: \(words)"
        case .final(let word):
            let isSaid = word.isEmpty || words.lowercased().contains(word.lowercased())
            return isSaid ? nil : "it doesn't say \(word): \(words)"
        case .either: return nil
        }
    }

    /// What is wrong with a right end.
    var faultOfSuccess: String? {
        if case .final(let word) = self { "complete, in spite of \(word.isEmpty ? "everything" : word)" } else { nil }
    }
}

/// What became of a cell.
struct MatrixOutcome: Sendable, Equatable {
    /// As the table has it.
    var text: String
    /// What is wrong with it, each in a line; nothing else makes a cell fail.
    var faults: [String] = []

    /// Where the one or the other may come of it, the table says so.
    func of(_ nature: MatrixNature) -> MatrixOutcome {
        var outcome = self
        if nature == .either { outcome.text = "right, or fails, then right" }
        return outcome
    }
}

/// One cell.
struct MatrixCell: Sendable {
    let way: MatrixWay
    let fault: String
    let moment: MatrixMoment
    /// Why it's none: there is no such thing, or nothing could be told of it.
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

    /// The same cells in each run, spread over all of them.
    var isInShortRun: Bool {
        name.utf8.reduce(5381) { ($0 &* 33 &+ Int($1)) & 0xFFFF_FFFF } % 16 == 0
    }
}
