import TransferCore

@testable import TransferUpload

/// A tus upload of a hundred bytes, talked to line by line.
func tus(
    size: Int64 = 100, name: String = "film.mp4", digest: Checksum? = nil, url: String = "https://h.test/files",
    _ options: TusOptions = TusOptions(), state: UploadState? = nil
) -> DialogueScript<TusDialogue> {
    DialogueScript(
        TusDialogue(
            url: url, source: UploadSource(name: name, size: size, digest: digest), options: options, state: state))
}

extension DialogueScript<TusDialogue> {
    /// Created at `/files/u1`; the first chunk is on its way.
    static func created(
        size: Int64 = 100, _ options: TusOptions = TusOptions(), fields: [(String, String)] = []
    ) -> Self {
        var script = tus(size: size, options)
        script.answer(201, [("Location", "/files/u1")] + fields)
        return script
    }

    /// A later attempt's; the HEAD is on its way.
    static func resumed(size: Int64 = 100, _ options: TusOptions = TusOptions(), fields: [(String, String)] = [])
        -> Self
    {
        var first = created(size: size, options, fields: fields)
        let made = first.saved.last
        // An attempt that broke off in the middle: a process that died may have sent all.
        first.lose(sent: 40)
        return tus(size: size, options, state: first.saved.last ?? made)
    }

    /// Three parts of a hundred bytes, created; their chunks are on their way.
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

    /// All parts are there; the joining is on its way.
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
