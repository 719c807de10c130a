import TransferCore

/// An upload that an earlier attempt created without recording its ID, because it ended before.
///
/// S3's lists do not mark an upload as ours: metadata is shown of objects only. An upload counts as the lost one when
/// all of this holds:
///
/// - The key is exactly ours.
/// - The upload was begun, by the server's own clock, when our request was sent (``S3Stray/isOfTime(_:serverTime:now:)``).
/// - No other upload fulfils these conditions.
/// - The upload has no part: if it is another client's all the same, that client loses no byte.
///
/// The lost upload is aborted rather than continued, as its type and metadata may be outdated. Servers that do not list
/// their uploads, or list them without times, keep it until their own rules end it.
struct S3Stray: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        /// ListMultipartUploads is requested.
        case list
        /// ListParts of the candidate is requested.
        case parts(uploadID: String)
        case abort(uploadID: String)

        var uploadID: String? {
            switch self {
            case .list: nil
            case .parts(let id), .abort(let id): id
            }
        }
    }

    /// The time when its creation was sent, in seconds since 1970.
    var since: Int64
    /// The number of attempts that searched for it and met a temporary error.
    var tries = 0
    /// Whether the job was given up, so that no new upload begins afterwards.
    var isGivenUp = false
    var step = Step.list

    /// The most attempts: one more would cost more than an upload without parts.
    static let mostTries = 3
    /// The uploads in a page. Keys that only begin like ours come later, and their pages are not read.
    static let pageSize = 100
    /// The tolerance in seconds before the creation: dates are whole seconds, and clocks are adjusted sometimes.
    private static let early: Int64 = 5
    /// The longest time in seconds for which a creation without an answer may have been under way.
    private static let late: Int64 = 120

    /// Returns whether an upload was begun when our request was sent.
    ///
    /// - Parameters:
    ///   - initiated: The time when the upload was begun, by the server, in seconds since 1970.
    ///   - serverTime: The current time of the server's clock; `nil` where it is unknown, so that the local clock is
    ///     used.
    ///   - now: The current time of the local clock.
    func isOfTime(_ initiated: Int64, serverTime: Int64?, now: Int64) -> Bool {
        let began = since + ((serverTime ?? now) - now)
        return (began - Self.early...began + Self.late).contains(initiated)
    }

    /// Searches a page.
    ///
    /// - Returns: The ID of the only upload that fulfils the conditions.
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
    /// The ID of the upload to which the request refers.
    var strayID: String? {
        guard case .stray(let stray) = self else { return nil }
        return stray.step.uploadID
    }

    /// Whether the request asks for the content of the bucket.
    var isOfBucket: Bool {
        guard case .stray(let stray) = self else { return false }
        return stray.step == .list
    }
}
