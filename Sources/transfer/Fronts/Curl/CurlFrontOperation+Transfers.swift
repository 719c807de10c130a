import TransferCore
import TransferQueue

extension CurlFrontOperation {
    /// Returns the transfers of the URLs and their patterns.
    ///
    /// - Parameter asAnswers: Whether the line is done as requests at once, and not as jobs.
    func transfers(asAnswers: Bool) throws(Faults) -> [FrontTransfer] {
        guard !isEmpty else { return [] }
        if let fault = answers.fault { throw Faults(faults: [fault]) }
        if asAnswers { try checkAnswers() }
        if !asAnswers, let option = answers.retryTime {
            throw Faults(faults: [
                option.fault("attempts are bounded by --retry, and each by --max-time", canBeLeftOut: true)
            ])
        }
        if body.isQuery, body.place != nil, !answers.query.isEmpty {
            throw Self.fault("--url-query", "curl sends the data of -G alone: write one of the two")
        }
        guard !urls.isEmpty else { throw Self.fault("", "no URL goes with these options") }
        if let extra = uploads.dropFirst(urls.count).first {
            throw Self.fault(extra.text, "no URL goes with this file")
        }
        if !uploads.isEmpty, form.place != nil || body.place != nil {
            throw Self.fault("-T", "an upload sends its file, and no other data")
        }
        if form.place != nil, body.place != nil { throw Self.fault("-F", "a request sends a form or data, not both") }
        var transfers: [FrontTransfer] = []
        for (position, url) in urls.enumerated() {
            let pattern = try pattern(url)
            for number in 0..<pattern.count {
                let (text, words) = pattern[number]
                transfers += try self.transfers(
                    of: FrontURL(answers.query(behind: text)), url, words, position, asAnswers)
            }
            guard transfers.count <= CurlPattern.most else {
                throw Self.fault(url.text, CurlPattern.tooMany.message)
            }
        }
        return transfers
    }

    private static func fault(_ shown: String, _ reason: String) -> Faults {
        Faults(faults: [FrontFault(shown: shown, reason: reason)])
    }

    private func pattern(_ text: Text) throws(Faults) -> CurlPattern {
        do throws(CurlPattern.Fault) {
            return try CurlPattern(text.text, globs: globs)
        } catch {
            throw Self.fault(text.text, error.message)
        }
    }

    /// Returns the transfers of one URL: one for each file of an upload's pattern, otherwise one.
    private func transfers(
        of url: FrontURL, _ written: Text, _ words: [String], _ position: Int, _ asAnswers: Bool
    ) throws(Faults) -> [FrontTransfer] {
        let place = FrontPlace.of(written.index)
        var draft = draft
        draft.place = place
        try check(url, written)
        try logIn(url, &draft, place)
        if url.isHTTP, !follows || !draft.has(["maxRedirects"]) {
            // curl follows 50 redirects where it follows any.
            draft.set(["maxRedirects"], .integer(follows ? 50 : 0), at: place)
        }
        let output = destinations.outputs.indices.contains(position) ? destinations.outputs[position] : nil
        if uploads.indices.contains(position) {
            try Self.checkAnswer(output)
            let files = try pattern(uploads[position])
            return (0..<files.count).map { sent(files[$0].text, to: url, draft) }
        }
        if form.hasFile {
            try Self.checkAnswer(output)
            form.addUpload(to: &draft)
            return [
                FrontTransfer(
                    draft: draft, urls: [url.url], kind: .form, retriesAllErrors: retriesAllErrors, rules: rules)
            ]
        }
        if form.place != nil { form.addBody(to: &draft, at: place) }
        if body.place != nil, !body.isQuery {
            body.add(to: &draft, at: place)
            if fields.removesType { draft.removeHeader("Content-Type") }
        } else if fields.isEmptyBody, form.place == nil {
            draft.set(["body"], .string(""), at: place)
        }
        let asked = body.isQuery ? body.query(behind: url.url) : url.url
        let kind = try self.output(of: FrontURL(asked), written, words, output, &draft)
        var transfer = FrontTransfer(
            draft: draft, urls: [asked], kind: .download(kind), retriesAllErrors: retriesAllErrors, rules: rules)
        // With -J, curl writes over no file, whatever it holds.
        if case .folder = kind { transfer.rules.takesSame = false }
        transfer.rules.keepsLonger = destinations.continues
        if asAnswers {
            guard url.isHTTP else { throw Self.fault(Redaction.url(written.text), "only HTTP has such an answer") }
            transfer.answer = answers.answer(follows: follows)
        }
        if transfer.isStreamed || asAnswers, !draft.has(["retry", "limit"]) {
            // A reader may wait for the stream: one attempt is made, as curl does.
            transfer.draft.set(["retry", "limit"], .integer(0), at: place)
        }
        return [transfer]
    }

    /// Checks that no file is to get the answer to an upload: standard output gets it.
    private static func checkAnswer(_ output: CurlFrontDestinations.Name?) throws(Faults) {
        switch output {
        case nil, .file("-"), .file("/dev/stdout"), .file("/dev/null"): return
        default: throw fault("-o", "standard output gets the answer to an upload: write > FILE")
        }
    }

    private func check(_ url: FrontURL, _ written: Text) throws(Faults) {
        if let refusal = URLRule.refusal(of: url.url) { throw Self.fault(Redaction.url(written.text), refusal.message) }
        guard let protocols else { return }
        let named = protocols.value.drop { $0 == "=" }.split(separator: ",").map { $0.lowercased() }
        guard protocols.value.hasPrefix("="), named.contains(url.scheme) else {
            throw Faults(faults: [protocols.fault("only =PROTOCOL with the URL's own is taken")])
        }
        if follows, !named.contains("http") {
            throw Faults(faults: [
                protocols.fault("with -L, a redirect to http would be followed; leave one of them out")
            ])
        }
    }

    /// Sets the logins at the server and at the proxy; the line's own ones are never stored.
    private func logIn(_ url: FrontURL, _ draft: inout ListDraft, _ place: ListPlace) throws(Faults) {
        if let bearer = logins.bearer { draft.set(["auth", "bearer"], .string(bearer.text), at: place) }
        if let proxyLogin = logins.proxy {
            guard let proxy = draft.string(["proxy", "url"]) else {
                throw Self.fault("-U", "the proxy is named too: -x HOST:PORT")
            }
            let (user, password) = Self.split(proxyLogin.text)
            draft.set(["proxy", "url"], .string(proxy), at: place)
            draft.set(["proxy", "user"], .string(user), at: place)
            draft.set(["proxy", "password"], .string(password ?? ""), at: place)
        }
        let isSSH = url.scheme == "sftp"
        if isSSH, let key = draft.string(["tls", "key"]) {
            draft.remove(["tls", "key"])
            draft.set(["ssh", "key"], .string(key), at: place)
        }
        var login: (user: String, password: String?)?
        if let given = logins.server { login = Self.split(given.text) }
        if let user = url.user { login = (user, url.password) }
        guard let login, !login.user.isEmpty else { return }
        if isSSH { draft.set(["ssh", "user"], .string(login.user), at: place) }
        if draft.has(["auth", "netrc"]) {
            return draft.set(["auth", "user"], .string(login.user), at: place)
        }
        // With SSH, a key may replace the password.
        if isSSH, login.password?.isEmpty ?? true { return }
        guard let password = login.password ?? (try? PasswordPrompt.ask(for: "\(login.user) at \(url.url)")) else {
            throw Self.fault("-u \(login.user)", "the password is missing, and there is no terminal to ask for it")
        }
        // curl waits for a question of the server only where it chooses the scheme of the answer.
        if url.isHTTP, !logins.choosesScheme {
            FrontLogin.set(login.user, password, to: &draft, at: place)
        } else {
            FrontLogin.setAnswer(login.user, password, to: &draft, at: place)
        }
    }

    private static func split(_ login: String) -> (user: String, password: String?) {
        guard let colon = login.firstIndex(of: ":") else { return (login, nil) }
        return (String(login[..<colon]), String(login[login.index(after: colon)...]))
    }

    private func sent(_ file: String, to url: FrontURL, _ common: ListDraft) -> FrontTransfer {
        var draft = common
        if destinations.createsFolders { draft.set(["createFolders"], .boolean(true), at: draft.place) }
        let target = url.hasNoPath ? url.url + "/" : url.url
        let source: FrontTransfer.Source = file == "-" || file == "." ? .standardInput : .file(file)
        var rules = rules
        // curl sends the Content-Type that -H names, and no other.
        rules.suggestsType = false
        return FrontTransfer(
            draft: draft, urls: [target], kind: .upload(source), retriesAllErrors: retriesAllErrors, rules: rules)
    }

    /// Returns where the bytes of a URL go, and sets the rule for a file that exists.
    private func output(
        of url: FrontURL, _ written: Text, _ words: [String], _ output: CurlFrontDestinations.Name?,
        _ draft: inout ListDraft
    ) throws(Faults) -> FrontTransfer.Output {
        var path: String
        switch output {
        case nil where !destinations.namesAll: return .standardOutput
        case .file(let file):
            if file == "-" || file == "/dev/stdout" { return .standardOutput }
            if file == "/dev/null" { return .discarded }
            path = CurlPattern.filled(file, words)
            if FrontNames.isStream(FrontNames.joined(destinations.folder, path)) {
                return .stream(FrontNames.joined(destinations.folder, path))
            }
        default:
            path = url.lastSegment
            guard !path.isEmpty else {
                throw Self.fault(Redaction.url(written.text), "the URL has no name for a file: -o FILE names one")
            }
        }
        let place = FrontPlace.of(written.index)
        draft.set(["remoteTime"], .boolean(destinations.remoteTime), at: place)
        var isServers = destinations.serverNames
        if case .file = output { isServers = false }
        if destinations.continues {
            draft.set(["adopt"], .string("unproven"), at: place)
        } else {
            // With -J, curl refuses to write over a file.
            let rule = destinations.skips ? "skip" : isServers ? "fail" : "overwrite"
            draft.set(["ifExists"], .string(rule), at: place)
        }
        if isServers { return .folder(destinations.folder ?? "", name: .given(path)) }
        path = FrontNames.joined(destinations.folder, path)
        return .file(destinations.clobbers == false && !destinations.continues ? FrontNames.free(path) : path)
    }
}
