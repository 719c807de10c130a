import TransferCore
import TransferEngine

/// The bytes that a failed exchange of a download leaves in the partial file.
enum PartialFileOutcome: Sendable, Equatable {
    /// Bytes of which this is to be recorded.
    case record(ResumeData)
    /// The bytes that were there before, of which the record holds.
    case untouched
    /// Nothing that can be continued.
    case nothing

    init(of outcome: ExchangeOutcome, _ ready: ReadyDownload) {
        self.init(outcome, isHeld: ready.resume != nil, ready.earlier)
    }

    /// - Parameters:
    ///   - isHeld: Whether the exchange began with bytes to be continued.
    ///   - earlier: What was recorded of them.
    init(_ outcome: ExchangeOutcome, isHeld: Bool, _ earlier: ResumeData?) {
        if var resume = outcome.resumeData {
            // Of a file with holes the bytes stay by a new record, also where nothing came.
            if outcome.received == 0, let claim = outcome.doubtfulClaim {
                resume.doubt = .after(earlier?.doubt, claim: claim)
            }
            self = .record(resume)
        } else if !outcome.isUntouched {
            self = .nothing
        } else if let claim = outcome.doubtfulClaim, var earlier {
            earlier.doubt = .after(earlier.doubt, claim: claim)
            earlier.written = ByteRanges(0..<outcome.position)
            earlier.bootID = BootID.current
            self = .record(earlier)
        } else {
            self = isHeld || outcome.position > 0 ? .untouched : .nothing
        }
    }

    /// With a record that holds in this life of the file system, durable where nothing else counts. Blocks: for workers.
    func secured(_ part: PartFile) -> PartialFileOutcome {
        guard case .record(var record) = self else { return self }
        record.mount = part.mount
        return .record(part.secured(record))
    }

    /// The queue's own record of the partial file from now on.
    func record(after earlier: ResumeData?) -> ResumeData? {
        switch self {
        case .record(let record): record
        case .untouched: earlier
        case .nothing: nil
        }
    }
}

extension ReadyDownload {
    /// The record of the bytes that are still part of the file.
    func earlier(for outcome: ExchangeOutcome) -> ResumeData? {
        outcome.start.map { $0.continued > 0 } ?? true ? earlier : nil
    }
}
