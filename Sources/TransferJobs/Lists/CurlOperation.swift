import TransferCore

/// The transfers of curl's list up to the next `next`, with the options that they share.
package struct CurlOperation: Sendable {
    private struct Text: Sendable {
        var text: String
        var place: ListPlace
    }

    private struct Output: Sendable {
        /// The file's name; `nil` for the name in the URL.
        var file: String?
        var listed: ListedOption
        var place: ListPlace { listed.place }
    }

    /// Whether a fault was reported, so that the operation yields no job.
    package var isWrong = false
    private var urls: [Text] = []
    private var outputs: [Output] = []
    private var uploads: [Text] = []
    private var folder: Text?
    private var user: Text?
    private var body = CurlBody()
    private var form = CurlForm()
    private var globs = true
    private var makesFolders: ListPlace?
    private var common: ListDraft?

    package init() {}

    /// Adds an option.
    ///
    /// - Returns: Whether the option was accepted.
    package mutating func take(_ option: CurlOption, _ listed: ListedOption) -> ListVerdict {
        if common == nil { common = ListDraft(at: listed.place) }
        switch option.meaning {
        case .common(let meaning):
            guard var draft = common else { return .taken }
            // The draft is moved out so that it changes in place.
            common = nil
            defer { common = draft }
            return meaning.apply(listed, to: &draft)
        case .part(let part): return take(part, listed)
        }
    }

    private mutating func take(_ part: CurlOption.Part, _ listed: ListedOption) -> ListVerdict {
        let text = Text(text: listed.value, place: listed.place)
        switch part {
        case .url: return take(url: text)
        case .output:
            if listed.value == "-" {
                return .refused("standard output gets the file of one URL: transfer get -o - URL")
            }
            outputs.append(Output(file: listed.value, listed: listed))
        case .remoteName: if listed.isOn { outputs.append(Output(file: nil, listed: listed)) }
        // The option applies to each URL that names no file.
        case .remoteNames, .next: break
        case .outputFolder: folder = text
        case .upload:
            if listed.value == "-" || listed.value == "." {
                return .refused("a list sends files; `transfer put - URL` sends standard input")
            }
            uploads.append(text)
        case .user:
            if listed.value.drop(while: { $0 != ":" }).count > 1 {
                return .refused("\(listed.shown): \(ListWays.login)")
            }
            user = Text(text: String(listed.value.prefix { $0 != ":" }), place: listed.place)
        case .globOff: globs = !listed.isOn
        case .createFolders: makesFolders = listed.isOn ? listed.place : nil
        case .query: body.isQuery = listed.isOn
        case .data, .rawData, .encodedData, .json: return body.take(part, listed)
        case .form, .formText: return form.take(listed, isText: part == .formText)
        }
        return .taken
    }

    private mutating func take(url: Text) -> ListVerdict {
        // Faults of the pattern are reported at the end, since a later option may make its brackets literal.
        let first = (try? CurlPattern(url.text))?[0].text ?? url.text
        if let refusal = URLRule.refusal(of: first, advice: ListWays.loginOfURL) {
            return .refused(refusal.message)
        }
        urls.append(url)
        return .taken
    }

    /// Returns the jobs, or their faults.
    ///
    /// - Parameter destination: The destination of URLs for which no `output` names a file.
    package func finish(destination: String) -> [ListFinding] {
        guard let common, !isWrong else { return [] }
        guard !urls.isEmpty else {
            return [.fault(common.place.fault("no url goes with these options: write url = \"URL\" beside them"))]
        }
        if let extra = outputs.dropFirst(urls.count).first {
            return [.fault(extra.place.fault("no url goes with this output"))]
        }
        if let extra = uploads.dropFirst(urls.count).first {
            return [.fault(extra.place.fault("no url goes with this file"))]
        }
        do throws(Refusal) {
            try checkBodies()
            var findings: [ListFinding] = []
            for index in urls.indices { try add(index, on: common, destination, to: &findings) }
            return findings
        } catch {
            return [.fault(error.place.fault(error.message))]
        }
    }

    private struct Refusal: Error {
        var message: String
        var place: ListPlace
    }

    /// Checks that a request has only one body.
    private func checkBodies() throws(Refusal) {
        if let file = uploads.first, let place = form.place ?? body.place {
            throw Refusal(
                message: "an upload sends its file, and no \(form.place == nil ? "data" : "form")",
                place: place.span.line < file.place.span.line ? file.place : place)
        }
        if form.place != nil, let place = body.place {
            throw Refusal(message: "a request sends a form or data, not both", place: place)
        }
    }

    /// Adds the jobs of a URL: one for each text of its pattern, and for each file of an upload's pattern.
    private func add(
        _ index: Int, on common: ListDraft, _ destination: String, to findings: inout [ListFinding]
    ) throws(Refusal) {
        let pattern = try pattern(of: urls[index])
        let upload = uploads.indices.contains(index) ? uploads[index] : nil
        let files = try upload.map { text throws(Refusal) in try self.pattern(of: text) }
        let (count, isTooMuch) = pattern.count.multipliedReportingOverflow(by: files?.count ?? 1)
        guard !isTooMuch, findings.count + count <= CurlPattern.most else {
            throw Refusal(message: CurlPattern.tooMany.message, place: urls[index].place)
        }
        let output = outputs.indices.contains(index) ? outputs[index] : nil
        if upload != nil || form.hasFile, let output, output.file != nil {
            findings.append(.leftOut(output.listed.shown, line: output.place.span.line))
        }
        for number in 0..<pattern.count {
            let (url, words) = pattern[number]
            var draft = common
            draft.place = urls[index].place
            let target = Text(text: url, place: urls[index].place)
            try logIn(url.prefix { $0 != ":" }.lowercased(), &draft, target)
            guard let files, let upload else {
                findings.append(.job(request(target, words, output, draft, destination)))
                continue
            }
            for file in 0..<files.count {
                let source = Text(text: files[file].text, place: upload.place)
                findings.append(.job(sent(source, to: target, draft)))
            }
        }
    }

    private func pattern(of text: Text) throws(Refusal) -> CurlPattern {
        do throws(CurlPattern.Fault) {
            return try CurlPattern(text.text, globs: globs)
        } catch {
            throw Refusal(message: error.message, place: text.place)
        }
    }

    private func sent(_ source: Text, to url: Text, _ common: ListDraft) -> ListDraft {
        var draft = common
        draft.set(["upload"], .string(source.text), at: source.place)
        draft.set(["to"], .string(url.text), at: url.place)
        draft.remove(["ifExists"])
        if let makesFolders { draft.set(["createFolders"], .boolean(true), at: makesFolders) }
        return draft
    }

    /// Returns the draft of a download, or of the upload of a form with a file.
    ///
    /// - Parameter words: The words in the URL that its sets and ranges yielded.
    private func request(
        _ url: Text, _ words: [String], _ output: Output?, _ common: ListDraft, _ destination: String
    ) -> ListDraft {
        var draft = common
        if form.hasFile {
            form.addUpload(to: &draft)
            draft.set(["to"], .string(url.text), at: url.place)
            draft.remove(["ifExists"])
            return draft
        }
        draft.set(["download"], .string(body.isQuery ? body.query(behind: url.text) : url.text), at: url.place)
        if let place = body.place, !body.isQuery { body.add(to: &draft, at: place) }
        if let place = form.place { form.addBody(to: &draft, at: place) }
        let beneath = folder.map { TemplateText.escaped($0.text) + "/" } ?? ""
        if let output, let file = output.file {
            let name = TemplateText.escaped(CurlPattern.filled(file, words))
            draft.set(["to"], .string(beneath + name), at: output.place)
        } else {
            let place = folder?.place ?? output?.place ?? url.place
            draft.set(["to"], .string(folder == nil ? destination : beneath), at: place)
        }
        return draft
    }

    /// Sets the login; with SSH, a user's name is enough.
    private func logIn(_ scheme: String, _ draft: inout ListDraft, _ url: Text) throws(Refusal) {
        if scheme == "sftp" {
            if let key = draft.string(["tls", "key"]), let place = draft.place(of: ["tls", "key"]) {
                draft.remove(["tls", "key"])
                draft.set(["ssh", "key"], .string(key), at: place)
            }
            if let user, !user.text.isEmpty { draft.set(["ssh", "user"], .string(user.text), at: user.place) }
            return
        }
        guard let user, !user.text.isEmpty else { return }
        guard draft.has(["auth", "netrc"]) else {
            throw Refusal(
                message: "who logs in has a password, which is named, never written: \(ListWays.loginOfURL)",
                place: user.place)
        }
        draft.set(["auth", "user"], .string(user.text), at: user.place)
    }
}
