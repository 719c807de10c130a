import Foundation
import TransferCore
import TransferEngine

/// A form sent as it is read, without a temporary file, and opened again for another try as long as no stream in it
/// has been read.
struct MultipartBody: BodyStream {
    let contentType: String
    let length: Int64?
    private let form: FormSegments

    /// The form as it is now: parts added later are not in it.
    ///
    /// - Throws: What went wrong when parts were added.
    init(_ form: MultipartFormData) throws {
        contentType = form.contentType
        self.form = try form.segments()
        length = self.form.length
    }

    /// Whether the form has only data and files.
    var isReplayable: Bool { form.isReplayable }

    /// - Throws: `bodyStreamConsumed` when a stream in it has been read.
    func open() throws(TransferError) -> any BodyReader {
        guard !form.hasConsumedStream else { throw .bodyStreamConsumed }
        return ExclusiveReader(FormSource(form.segments))
    }
}
