import TransferCore
import TransferEngine

/// The bytes that a failed exchange of a download leaves in the partial file.
enum PartialFileOutcome: Sendable, Equatable {
    /// The exchange left bytes with this record.
    case record(ResumeData)
    /// The partial file is unchanged, and its earlier record holds.
    case untouched
    /// The partial file has no bytes that can be continued.
    case nothing

    init(of outcome: ExchangeOutcome, _ ready: ReadyDownload) {
        self.init(outcome, isHeld: ready.resume != nil, ready.earlier)
    }

    /// Judges an exchange.
    ///
    /// - Parameters:
    ///   - isHeld: Whether the exchange began with bytes to be continued.
    ///   - earlier: The record of those bytes.
    init(_ outcome: ExchangeOutcome, isHeld: Bool, _ earlier: ResumeData?) {
        if var resume = outcome.resumeData {
            // A file with holes keeps its bytes by a new record, even if no byte came.
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

    /// Returns the record bound to the present mount of the file system. Without an identity of the mount, makes the
    /// bytes durable. Blocks, so it belongs on a worker thread.
    func secured(_ part: PartFile) -> PartialFileOutcome {
        guard case .record(var record) = self else { return self }
        record.mount = part.mount
        return .record(part.secured(record))
    }

    /// Returns the queue's own record of the partial file from now on.
    func record(after earlier: ResumeData?) -> ResumeData? {
        switch self {
        case .record(let record): record
        case .untouched: earlier
        case .nothing: nil
        }
    }
}

extension ReadyDownload {
    /// Returns the record of earlier bytes that are still part of the file.
    func earlier(for outcome: ExchangeOutcome) -> ResumeData? {
        outcome.start.map { $0.continued > 0 } ?? true ? earlier : nil
    }
}
