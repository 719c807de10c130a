import TransferCore

/// A server of tus 1.0 (2016-03-25) with the extensions creation, creation-with-upload and termination.
final class TusModel {
    private struct Upload {
        /// The path at which it was created.
        let path: String
        let length: Int
        var bytes: [UInt8] = []
    }

    private var uploads: [String: Upload] = [:]
    private var lastNumber = 0
    /// Whether an upload is moved away as soon as it is whole.
    var forgetsWhole = false

    /// A whole upload.
    typealias Whole = (path: String, body: [UInt8])

    func answer(_ request: ServerModel.Request) -> (ServerModel.Answer, Whole?) {
        switch request.method {
        case "OPTIONS":
            return (
                Self.answer(
                    204,
                    [
                        HeaderField("Tus-Version", "1.0.0"),
                        HeaderField("Tus-Extension", "creation,creation-with-upload,termination"),
                    ]), nil
            )
        case "POST": return create(request)
        case "HEAD":
            guard let upload = uploads[request.path] else { return (Self.answer(404), nil) }
            return (
                Self.answer(
                    200, [Self.offset(upload), HeaderField("Upload-Length", "\(upload.length)")]), nil
            )
        case "PATCH": return append(request)
        case "DELETE":
            guard uploads.removeValue(forKey: request.path) != nil else { return (Self.answer(404), nil) }
            return (Self.answer(204), nil)
        default: return (Self.answer(405), nil)
        }
    }

    /// Takes the beginning of a request, whose connection was lost.
    ///
    /// - Returns: An upload that is whole by that.
    func take(_ request: ServerModel.Request) -> Whole? {
        switch request.method {
        case "POST": create(request).1
        case "PATCH": append(request).1
        default: nil
        }
    }

    /// Lets the server lose all uploads that are not whole.
    func forget() { uploads = uploads.filter { $0.value.bytes.count == $0.value.length } }

    private func create(_ request: ServerModel.Request) -> (ServerModel.Answer, Whole?) {
        guard let length = request.headers.value("Upload-Length").flatMap({ Int($0) }) else {
            return (Self.answer(400), nil)
        }
        lastNumber += 1
        let path = "\(request.path)/\(lastNumber)"
        var upload = Upload(path: request.path, length: length)
        upload.bytes = Array(request.body.prefix(length))
        keep(upload, path)
        let fields = [HeaderField("Location", "http://\(request.host)\(path)"), Self.offset(upload)]
        return (Self.answer(201, fields), whole(upload))
    }

    private func append(_ request: ServerModel.Request) -> (ServerModel.Answer, Whole?) {
        guard var upload = uploads[request.path] else { return (Self.answer(404), nil) }
        guard request.headers.value("Upload-Offset") == "\(upload.bytes.count)" else { return (Self.answer(409), nil) }
        let wasWhole = upload.bytes.count == upload.length
        upload.bytes += request.body.prefix(upload.length - upload.bytes.count)
        keep(upload, request.path)
        return (Self.answer(204, [Self.offset(upload)]), wasWhole ? nil : whole(upload))
    }

    private func keep(_ upload: Upload, _ path: String) {
        uploads[path] = forgetsWhole && upload.bytes.count == upload.length ? nil : upload
    }

    private func whole(_ upload: Upload) -> Whole? {
        upload.bytes.count == upload.length ? (upload.path, upload.bytes) : nil
    }

    private static func offset(_ upload: Upload) -> HeaderField {
        HeaderField("Upload-Offset", "\(upload.bytes.count)")
    }

    private static func answer(_ status: Int, _ fields: [HeaderField] = []) -> ServerModel.Answer {
        let common = [HeaderField("Tus-Resumable", "1.0.0"), HeaderField("Content-Length", "0")]
        return ServerModel.Answer(status: status, fields: fields + common)
    }
}
