import TransferCore

@testable import TransferUpload

/// Returns a tus upload of a hundred bytes, which a test drives request by request.
func tus(
    size: Int64 = 100, name: String = "film.mp4", digest: Checksum? = nil, url: String = "https://h.test/files",
    _ options: TusOptions = TusOptions(), state: UploadState? = nil
) -> DialogueScript<TusDialogue> {
    DialogueScript(
        TusDialogue(
            url: url, source: UploadSource(name: name, size: size, digest: digest), options: options, state: state))
}

extension DialogueScript<TusDialogue> {
    /// Returns an upload that was created at `/files/u1`, with its first chunk on its way.
    static func created(
        size: Int64 = 100, _ options: TusOptions = TusOptions(), fields: [(String, String)] = []
    ) -> Self {
        var script = tus(size: size, options)
        script.answer(201, [("Location", "/files/u1")] + fields)
        return script
    }

    /// Returns a later attempt with its HEAD on its way.
    static func resumed(size: Int64 = 100, _ options: TusOptions = TusOptions(), fields: [(String, String)] = [])
        -> Self
    {
        var first = created(size: size, options, fields: fields)
        let made = first.saved.last
        // The earlier attempt broke off in the middle. A process that died may have sent the whole file.
        first.lose(sent: 40)
        return tus(size: size, options, state: first.saved.last ?? made)
    }

    /// Returns an upload of a hundred bytes in three created parts, whose chunks are on their way.
    static func inParts() -> (Self, chunks: [UploadRequest]) {
        var script = tus(TusOptions(parallel: 3, minimumPartSize: 10))
        script.answer(204, [("Tus-Version", "1.0.0"), ("Tus-Extension", "creation,concatenation")])
        var chunks: [UploadRequest] = []
        for (index, request) in script.requests.enumerated() {
            script.answer(201, [("Location", "/files/p\(index)")], to: request)
            chunks += script.requests
        }
        return (script, chunks)
    }

    /// Returns an upload whose parts are complete, with the joining request on its way.
    static func joining() -> Self {
        var (script, chunks) = inParts()
        for chunk in chunks {
            script.answer(204, [("Upload-Offset", "\(chunk.body.length)")], to: chunk)
        }
        return script
    }
}

extension UploadRequest {
    func field(_ name: String) -> String? { headers.value(name) }
}
