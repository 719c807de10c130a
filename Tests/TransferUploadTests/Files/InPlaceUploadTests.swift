import Testing
import TransferCore

@testable import TransferUpload

/// An upload to a file server that permits only the storing of files.
@Suite struct InPlaceUploadTests {
    private let source = UploadSource(name: "f", size: 100)

    private func script(_ url: String = "ftp://h/in/f", state: UploadState? = nil) -> DialogueScript<InPlaceUpload> {
        DialogueScript(InPlaceUpload(url: url, source: source, state: state))
    }

    @Test func theFileIsStoredWithoutFurtherRequests() {
        var script = script("sftp://me@h/in/f")
        #expect(script.requests.map(\.method) == ["PUT"] && script.request?.url == "sftp://h/in/f")
        #expect(script.request?.body == .source(0..<100) && script.restart == nil)
        script.answer(201)
        #expect(script.confirmed == 100 && script.result == UploadResult(url: "sftp://h/in/f", status: 201))
    }

    @Test func afterABreakTheWholeFileIsSentAgainAndReported() throws {
        var first = script()
        first.lose(sent: 40)
        #expect(first.failure?.isTransient == true)
        #expect(first.failure?.message == "lost; a part of the file may be there under its name already")
        var second = script(state: try first.kept())
        #expect(second.request?.method == "HEAD")
        second.answer(200, [("Content-Length", "40")])
        #expect(
            second.restart
                == "a part of the file may be there under its name already, and what has its name is not the file; it is sent in "
                + "place, as a whole")
        #expect(second.request?.body == .source(0..<100))
        second.lose(sent: 100)
        #expect(second.failure?.message == "lost; all of the file may be there under its name already")
        // A recorded fact persists, however short the next attempt is.
        var third = script(state: try second.kept())
        third.answer(200, [("Content-Length", "40")])
        third.lose(sent: 1)
        #expect(third.failure?.message == "lost; all of the file may be there under its name already")
        var last = script(state: try third.kept())
        last.answer(200, [("Content-Length", "40")])
        last.answer(201)
        #expect(last.result?.status == 201)
        // A file that was sent completely and is missing was removed, or the server refuses to answer.
        for status in [404, 403] {
            var gone = script(state: try third.kept())
            gone.answer(status)
            #expect(gone.failure?.code == .mayHaveBeenSent && gone.failure?.isTransient == false)
        }
    }

    /// The same without the permission to overwrite: no answer says how much the first attempt left.
    @Test func aRefusalAfterABreakMayHaveBeenSent() throws {
        var first = script()
        first.lose(sent: 40)
        var second = script(state: try first.kept())
        second.answer(200, [("Content-Length", "40")])
        second.lose(sent: 0)
        var third = script(state: try second.kept())
        third.answer(200, [("Content-Length", "40")])
        third.hear(
            third.dialogue.handle(
                .answered(
                    UploadAnswer(
                        request: third.request?.id ?? 0,
                        head: ResponseHead(
                            status: 403, fields: [HeaderField("Server-Reply", "553 Could not create file.")]),
                        url: "ftp://h/in/f")), now: 0))
        #expect(third.failure?.code == .mayHaveBeenSent && third.failure?.isTransient == false)
        #expect(
            third.failure?.message
                == "the server does not take the file (553 Could not create file.); a part of the file may be there under its "
                + "name already: have it looked at or removed there before a retry sends the file again")
    }

    @Test func anUnsentFileIsNotOnTheServer() throws {
        var first = script()
        first.lose(.cannotConnect, sent: 0)
        #expect(first.failure?.message == "lost")
        var second = script(state: try first.kept())
        #expect(second.restart == nil)
        second.hear(
            second.dialogue.handle(
                .answered(
                    UploadAnswer(request: second.request?.id ?? 0, head: ResponseHead(status: 403, fields: []), url: "")
                ),
                now: 0))
        #expect(second.failure?.code == .httpStatus)
    }

    /// The state is saved before the first byte is sent, since a killed process cannot report anything.
    @Test func aProcessThatWasKilledMayHaveSent() throws {
        var next = script(state: try script().kept())
        next.answer(404)
        #expect(next.restart?.hasPrefix("a part of the file may be there") == true)
        // On another server nothing of the upload exists.
        #expect(script("ftp://h/in/g", state: try script().kept()).restart == nil)
    }

    @Test func hiddenFilesOfEarlierAttemptsAreRemoved() throws {
        var hidden = DialogueScript(FileServerUpload(url: "ftp://h/in/f", source: source, state: nil, mark: "m1"))
        hidden.lose(sent: 40)
        var script = script(state: try hidden.kept())
        #expect(script.restart == nil)
        script.answer(201)
        #expect(script.request?.method == "DELETE" && script.request?.url == "ftp://h/in/.f.m1.part")
        // Without the permission to remove files, the upload is complete nevertheless.
        script.answer(403)
        #expect(script.result == UploadResult(url: "ftp://h/in/f", status: 201))
        let abandoned = DialogueScript(
            abandoning: InPlaceUpload(url: "ftp://h/in/f", source: source, state: try hidden.kept()))
        #expect(abandoned.requests.map(\.url) == ["ftp://h/in/.f.m1.part"])
        let other = self.script("ftp://i/in/f", state: try hidden.kept())
        #expect(other.requests.map(\.url) == ["ftp://i/in/f"])
    }

    /// The file with the final name may be complete, and may already be in use.
    @Test func anAbandonedFileIsKept() throws {
        var first = script()
        first.lose(sent: 40)
        let abandoned = DialogueScript(
            abandoning: InPlaceUpload(url: "ftp://h/in/f", source: source, state: try first.kept()))
        #expect(abandoned.requests.isEmpty && abandoned.result != nil)
    }

    /// Both kinds of upload discover an account with restricted permissions.
    @Test func aHiddenUploadContinuesAsAnInPlaceUpload() throws {
        let state = try script().kept()
        let script = DialogueScript(FileServerUpload(url: "ftp://h/in/f", source: source, state: state, mark: "m1"))
        #expect(script.request?.method == "HEAD" && script.request?.url == "ftp://h/in/f")
    }
}
