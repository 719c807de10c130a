import TransferCore

/// An upload that an earlier attempt asked for, and whose ID it didn't live to write down.
///
/// Nothing that S3 lists marks an upload as ours: metadata is shown of objects only. An upload is taken for the lost one
/// when all of this holds:
/// - it is of exactly our key;
/// - it was begun, by the server's own clock, when our request for it was sent (``S3Stray/isOfTime(_:serverTime:now:)``);
/// - there is no other such one;
/// - it has no part: if it's another client's all the same, no byte of that client is lost.
///
/// The lost one is aborted rather than gone on with: what it was created with (type, metadata) may have changed since.
/// Servers that don't list their uploads, or not with their times, keep it until their own rules for such uploads end it.
struct S3Stray: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        /// ListMultipartUploads.
        case list
        /// ListParts of the upload that may be it.
        case parts(uploadID: String)
        case abort(uploadID: String)

        var uploadID: String? {
            switch self {
            case .list: nil
            case .parts(let id), .abort(let id): id
            }
        }
    }

    /// When its creation was sent, in seconds since 1970.
    var since: Int64
    /// Attempts that looked for it and were answered by an error that may pass.
    var tries = 0
    /// The job was given up: nothing is begun afterwards.
    var isGivenUp = false
    var step = Step.list

    /// An attempt more would cost more than an upload without parts.
    static let mostTries = 3
    /// Keys that only begin like ours come behind it, and their pages aren't read.
    static let pageSize = 100
    /// Dates are whole seconds, and clocks are set right now and then. Seconds.
    private static let early: Int64 = 5
    /// A creation whose answer was lost may have been on its way as long. Seconds.
    private static let late: Int64 = 120

    /// - Parameters:
    ///   - initiated: When the server says that it was begun, in seconds since 1970.
    ///   - serverTime: What the server's clock says now; `nil` where it doesn't say it, and our own has to do.
    ///   - now: What ours says.
    func isOfTime(_ initiated: Int64, serverTime: Int64?, now: Int64) -> Bool {
        let began = since + ((serverTime ?? now) - now)
        return (began - Self.early...began + Self.late).contains(initiated)
    }

    /// - Returns: The ID of the one upload that may be it.
    func found(in page: S3Answers.UploadsPage, key: String, serverTime: Int64?, now: Int64) -> String? {
        let ours = page.uploads.filter {
            $0.key == key && isOfTime($0.initiated, serverTime: serverTime, now: now)
        }
        return ours.count == 1 ? ours.first?.uploadID : nil
    }

    var isAbort: Bool {
        if case .abort = step { return true }
        return false
    }

    func next(_ step: Step) -> S3Stray {
        var other = self
        other.step = step
        return other
    }
}

extension S3Exchange {
    /// The ID of the upload that is looked at.
    var strayID: String? {
        guard case .stray(let stray) = self else { return nil }
        return stray.step.uploadID
    }

    /// Whether it asks for what the bucket holds.
    var isOfBucket: Bool {
        guard case .stray(let stray) = self else { return false }
        return stray.step == .list
    }
}
