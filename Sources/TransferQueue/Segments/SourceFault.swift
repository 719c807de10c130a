import TransferCore
import TransferJobs

extension JobSource.Fault {
    /// Judges by what was answered, not by words.
    ///
    /// - Parameters:
    ///   - head: The last answer; `nil` where none came.
    ///   - total: The length that the file has.
    ///   - validator: What the source called its version before.
    init(_ error: TransferError, _ head: ResponseHead? = nil, total: Int64? = nil, validator: Validator? = nil) {
        self.init(Self.cause(error, head, total, validator), error.message)
    }

    private static func cause(
        _ error: TransferError, _ head: ResponseHead?, _ total: Int64?, _ validator: Validator?
    ) -> JobSource.Cause {
        switch error.code {
        case .checksumMismatch: return .wrongBytes
        case .timedOut: return .silent
        case .tooSlow: return .slow
        case .loginRefused, .hostKeyRefused, .certificateRefused, .tooManyConnections: return .refused
        default: break
        }
        guard let head else { return error.status == nil ? .failed : .refused }
        if let length = length(head), let total, length != total { return .otherLength }
        guard head.status < 400, error.status == nil else { return .refused }
        if let validator, let now = Validator(head), now != validator { return .otherVersion }
        return .failed
    }

    /// The length of the whole file, where the answer tells it.
    private static func length(_ head: ResponseHead) -> Int64? {
        switch head.status {
        case 200: head.contentCoding == nil ? head.contentLength : nil
        case 206, 416: head.value("Content-Range").flatMap { ContentRange($0) }?.total
        default: nil
        }
    }
}
