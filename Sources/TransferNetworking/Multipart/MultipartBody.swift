import Foundation
import TransferCore
import TransferEngine

/// A form that is sent while it is read, without a temporary file. It can be opened again for another attempt as long
/// as no stream in it has been read.
struct MultipartBody: BodyStream {
    let contentType: String
    let length: Int64?
    private let form: FormSegments

    /// Takes the form in its current state; parts that are added later are not included.
    ///
    /// - Throws: The first error that occurred when parts were added.
    init(_ form: MultipartFormData) throws {
        contentType = form.contentType
        self.form = try form.segments()
        length = self.form.length
    }

    /// Whether the form consists of data and files only.
    var isReplayable: Bool { form.isReplayable }

    /// - Throws: `bodyStreamConsumed` when a stream in the form has been read.
    func open() throws(TransferError) -> any BodyReader {
        guard !form.hasConsumedStream else { throw .bodyStreamConsumed }
        return ExclusiveReader(FormSource(form.segments))
    }
}
