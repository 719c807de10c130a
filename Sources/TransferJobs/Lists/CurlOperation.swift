import TransferCore

/// The transfers that stand in curl's list up to the next `next`, with the options that they have in common.
package struct CurlOperation: Sendable {
    private struct Text: Sendable {
        var text: String
        var place: ListPlace
    }

    private struct Output: Sendable {
        /// `nil` for the name that the URL has.
        var file: String?
        var place: ListPlace
    }

    /// A fault was told: no job is made of it.
    package var isWrong = false
    private var urls: [Text] = []
    private var outputs: [Output] = []
    private var uploads: [Text] = []
    private var folder: Text?
    private var user: Text?
    private var body = CurlBody()
    private var globs = true
    private var makesFolders: ListPlace?
    private var common: ListDraft?

    package init() {}

    /// - Returns: Whether it was taken.
    package mutating func take(_ option: CurlOption, _ listed: ListedOption) -> ListVerdict {
        if common == nil { common = ListDraft(at: listed.place) }
        switch option.meaning {
        case .common(let meaning):
            guard var draft = common else { return .taken }
            // The draft is changed in place.
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
            outputs.append(Output(file: listed.value, place: listed.place))
        case .remoteName: if listed.isOn { outputs.append(Output(file: nil, place: listed.place)) }
        // It's so for each URL that names no file.
        case .remoteNames, .next: break
        case .outputFolder: folder = text
        case .upload:
            if listed.value == "-" || listed.value == "." {
                return .refused("a list sends files; `transfer put - URL` sends standard input")
            }
            if listed.value.contains(where: { "{}[]".contains($0) }), globs {
                return .refused("one file is sent by each entry: write each of them, or globoff before it")
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
        }
        return .taken
    }

    private mutating func take(url: Text) -> ListVerdict {
        if let refusal = URLRule.refusal(
            of: url.text, advice: ListWays.loginOfURL)
        {
            return .refused(refusal.message)
        }
        urls.append(url)
        return .taken
    }

    /// The jobs, or what is wrong with them.
    ///
    /// - Parameter destination: Where a URL goes whose name no `output` says.
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
        return urls.indices.map { index in
            do throws(Refusal) {
                return .job(try job(index, on: common, destination))
            } catch {
                return .fault(error.place.fault(error.message))
            }
        }
    }

    private struct Refusal: Error {
        var message: String
        var place: ListPlace
    }

    private func job(
        _ index: Int, on common: ListDraft, _ destination: String
    ) throws(Refusal) -> ListDraft {
        let url = urls[index]
        if globs, Self.isPattern(url.text) {
            throw Refusal(
                message:
                    "curl makes several URLs of this pattern: write each of them, or globoff where the brackets are meant",
                place: url.place)
        }
        var draft = common
        draft.place = url.place
        let scheme = url.text.prefix { $0 != ":" }.lowercased()
        try logIn(scheme, &draft, url)
        if uploads.indices.contains(index) {
            if let place = body.place { throw Refusal(message: "an upload sends its file, and no data", place: place) }
            draft.set(["upload"], .string(uploads[index].text), at: uploads[index].place)
            draft.set(["to"], .string(url.text), at: url.place)
            draft.remove(["ifExists"])
            if let makesFolders { draft.set(["createFolders"], .boolean(true), at: makesFolders) }
            return draft
        }
        draft.set(["download"], .string(body.isQuery ? body.query(behind: url.text) : url.text), at: url.place)
        if let place = body.place, !body.isQuery { body.add(to: &draft, at: place) }
        let beneath = folder.map { TemplateText.escaped($0.text) + "/" } ?? ""
        let output = outputs.indices.contains(index) ? outputs[index] : nil
        if let output, let file = output.file {
            draft.set(["to"], .string(beneath + TemplateText.escaped(file)), at: output.place)
        } else {
            let place = folder?.place ?? output?.place ?? url.place
            draft.set(["to"], .string(folder == nil ? destination : beneath), at: place)
        }
        return draft
    }

    /// Who logs in: by ssh a user's name is enough.
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

    /// Whether curl would make several URLs of it; an IPv6 address stands in brackets.
    private static func isPattern(_ url: String) -> Bool {
        guard url.contains(where: { "{}[]".contains($0) }) else { return false }
        var rest = Substring(url)
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        if rest.first == "[", let end = rest.firstIndex(of: "]"), rest[..<end].contains(":") {
            rest = rest[rest.index(after: end)...]
        }
        return rest.contains { "{}[]".contains($0) }
    }
}
