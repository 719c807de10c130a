import TransferCore
import TransferEngine
import TransferQueue

/// The options of curl for the places of the bytes.
struct CurlFrontDestinations {
    enum Name {
        case file(String)
        /// The name in the URL.
        case remote
    }

    /// The destinations that `-o` and `-O` name, each for the URL at the same position.
    var outputs: [Name] = []
    var folder: String?
    var namesAll = false
    var serverNames = false
    var remoteTime = false
    var continues = false
    var clobbers: Bool?
    var skips = false
    /// Whether missing folders of an FTP server are made.
    var createsFolders = false
}

/// The logins of curl's command line.
struct CurlFrontLogins {
    var server: CurlFrontOperation.Text?
    var bearer: CurlFrontOperation.Text?
    var proxy: CurlFrontOperation.Text?
    /// Whether a login is sent only when the server asks for it (`--anyauth`).
    var choosesScheme = false
}

/// The effects of curl's option `--header` on other options.
struct CurlFrontFields {
    /// The names that the line writes or removes, in lower case; they outweigh options such as `--user-agent`.
    var names: Set<String> = []
    /// Whether a request with a body has no Content-Type (`-H Content-Type:`).
    var removesType = false
    /// Whether a request without a body says that its length is 0 (`-H 'Content-Length: 0'`).
    var isEmptyBody = false
}

/// The transfers of curl's command line up to the next `--next`, with the options that they share.
struct CurlFrontOperation {
    struct Faults: Error { var faults: [FrontFault] }

    struct Text {
        var text: String
        var index: Int
    }

    /// The options before the URL may depend on the URL, so that they are applied at the end.
    var draft = ListDraft(at: FrontPlace.of(0))
    var urls: [Text] = []
    var destinations = CurlFrontDestinations()
    var logins = CurlFrontLogins()
    var uploads: [Text] = []
    var body = CurlBody()
    var form = CurlForm()
    var globs = true
    var follows = false
    var retriesAllErrors = false
    var protocols: FrontOption?
    var answers = CurlFrontAnswers()
    var rules = JobSettings.HTTPRules.FrontRules()
    private(set) var fields = CurlFrontFields()
    private var isGiven = false

    mutating func add(url: String, at index: Int) { urls.append(Text(text: url, index: index)) }

    /// Adds an option.
    ///
    /// - Returns: Why the option cannot be taken; `nil` for one that was.
    mutating func take(_ option: FrontOption) -> FrontFault? {
        isGiven = true
        let text = Text(text: option.value, index: option.index)
        switch option.name {
        case "url": urls.append(text)
        case "output": destinations.outputs.append(.file(option.value))
        case "remote-name": if option.isOn { destinations.outputs.append(.remote) }
        case "remote-name-all": destinations.namesAll = option.isOn
        case "remote-header-name": destinations.serverNames = option.isOn
        case "remote-time": destinations.remoteTime = option.isOn
        case "output-dir": destinations.folder = option.value
        case "upload-file": uploads.append(text)
        case "user": logins.server = text
        case "oauth2-bearer": logins.bearer = text
        case "proxy-user": logins.proxy = text
        case "anyauth": logins.choosesScheme = option.isOn
        case "globoff": globs = !option.isOn
        case "location": follows = option.isOn
        case "clobber": destinations.clobbers = option.isOn
        case "skip-existing": destinations.skips = option.isOn
        case "ftp-create-dirs": destinations.createsFolders = option.isOn
        case "get": body.isQuery = option.isOn
        case "continue-at":
            guard option.value == "-" else { return option.fault("where a file continues is found out: write -C -") }
            destinations.continues = true
        case "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json": return take(data: option)
        case "form": return verdict(form.take(option.listed, isText: false), option)
        case "form-string": return verdict(form.take(option.listed, isText: true), option)
        case "request" where option.value.uppercased() == "HEAD":
            return option.fault("-I asks for the head alone")
        case "request":
            rules.redirects.keepsMethod = true
            return takeListed(option)
        case "post301", "post302", "post303":
            guard let status = Int(option.name.suffix(3)) else { return nil }
            rules.redirects.keepsPost.remove(status)
            if option.isOn { rules.redirects.keepsPost.insert(status) }
        case "user-agent" where fields.names.contains("user-agent"): break
        case "referer" where fields.names.contains("referer"): break
        case "header": return take(header: option)
        case "cookie": return take(cookie: option)
        case "proxy", "proxy1.0", "socks5", "socks5-hostname": take(proxy: option)
        case "proto": protocols = option
        case "ipv4", "ipv6": rules.families = !option.isOn ? .any : option.name == "ipv4" ? .v4 : .v6
        case "retry-all-errors": retriesAllErrors = option.isOn
        case _ where CurlFrontAnswers.names.contains(option.name): return answers.take(option)
        default: return takeListed(option)
        }
        return nil
    }

    /// Applies an option that means the same in a list.
    private mutating func takeListed(_ option: FrontOption) -> FrontFault? {
        guard case .common(let meaning)? = CurlOption.named(option.name)?.meaning else {
            return option.fault(CurlFrontRules.unknownEffect)
        }
        return verdict(meaning.apply(option.listed, to: &draft), option)
    }

    private func verdict(_ verdict: ListVerdict, _ option: FrontOption) -> FrontFault? {
        switch verdict {
        case .taken: nil
        case .leftOut: option.isOn ? option.fault(CurlFrontRules.unknownEffect) : nil
        case .takenWithout(let rest): option.fault("\(rest) has no equivalent")
        case .refused(let message):
            option.isOn ? option.fault(message.strippingPrefix("\(option.shown): ")) : nil
        }
    }

    // MARK: Values with rules of the command line

    /// Adds data, whose files are read at once.
    private mutating func take(data option: FrontOption) -> FrontFault? {
        var listed = option.listed
        let value = option.value
        var part = CurlOption.Part.data
        switch option.name {
        case "data-raw": part = .rawData
        case "data-urlencode":
            let mark = value.firstIndex { $0 == "=" || $0 == "@" }
            guard let mark, value[mark] == "@" else {
                let name = mark.map { value[..<$0] } ?? ""
                let text = mark.map { value[value.index(after: $0)...] } ?? value[...]
                listed.value = Self.encoded(text, named: name)
                part = .rawData
                break
            }
            switch FrontInput.text(String(value[value.index(after: mark)...])) {
            case .failure(let refusal): return refused(refusal, option)
            case .success(let text):
                listed.value = Self.encoded(text[...], named: value[..<mark])
                part = .rawData
            }
        default:
            if option.name == "json" { part = .json }
            guard value.hasPrefix("@") else { break }
            switch FrontInput.text(String(value.dropFirst())) {
            case .failure(let refusal): return refused(refusal, option)
            case .success(let text):
                // Only binary data keeps the ends of its lines.
                let keepsLines = option.name == "data-binary" || option.name == "json"
                listed.value = keepsLines ? text : text.withoutLineEnds
                if option.name != "json" { part = .rawData }
            }
        }
        return verdict(body.take(part, listed), option)
    }

    /// Returns a field of a form, with a plus sign for each space.
    static func encoded(_ text: Substring, named name: Substring) -> String {
        (name.isEmpty ? "" : "\(name)=") + PercentEncoding.encode(text).replacing("%20", with: "+")
    }

    private func refused(_ refusal: FrontInput.InputRefusal, _ option: FrontOption) -> FrontFault {
        guard refusal.isBinary else { return option.fault(refusal.reason) }
        let file = String(option.value.drop { $0 != "@" }.dropFirst())
        let line = urls.first.map { ["transfer", "put", file, $0.text, "--protocol", "post"] }
        return option.fault("\(refusal.reason), and a file of bytes is an upload", line: line)
    }

    /// The option `header`: a field, or a file of fields. A secret value is never stored.
    private mutating func take(header option: FrontOption) -> FrontFault? {
        guard option.value.hasPrefix("@") else { return take(field: option.value, option) }
        switch FrontInput.text(String(option.value.dropFirst())) {
        case .failure(let refusal): return option.fault(refusal.reason)
        case .success(let text):
            for line in text.split(whereSeparator: \.isNewline) {
                if let fault = take(field: String(line), option) { return fault }
            }
            return nil
        }
    }

    /// Adds a header field. `Name;` is a field without a value, and `Name:` removes a field that curl sends by default.
    private mutating func take(field text: String, _ option: FrontOption) -> FrontFault? {
        guard let colon = text.firstIndex(of: ":") else {
            guard text.hasSuffix(";") else { return option.fault("a header is written \"NAME: VALUE\"") }
            add(field: String(text.dropLast()), "", option)
            return nil
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        switch (name.lowercased(), value) {
        case ("content-length", "0"): fields.isEmptyBody = true
        case ("content-type", ""): fields.removesType = true
        case ("accept", ""), ("user-agent", ""), ("host", ""):
            return option.fault("a request always has this field; leave the option out")
        // Other fields are only sent where an option asks for them.
        case (let removed, ""):
            fields.names.insert(removed)
            draft.removeHeader(name)
        default: add(field: name, String(value), option)
        }
        return nil
    }

    /// Adds a header field: the first replaces the field of another option, and a further one is a line of its own.
    private mutating func add(field name: String, _ value: String, _ option: FrontOption) {
        let isFirst = fields.names.insert(name.lowercased()).inserted
        draft.addHeader(name, value, at: FrontPlace.of(option.index), repeated: isFirst ? .replaced : .further)
    }

    private mutating func take(cookie option: FrontOption) -> FrontFault? {
        guard option.value.contains("=") else {
            // The name of no file only switches cookies on, for redirects.
            answers.answer.keepsCookies = true
            return option.value == "-" || FrontNames.exists(option.value) ? takeListed(option) : nil
        }
        guard !fields.names.contains("cookie") else { return nil }
        let place = FrontPlace.of(option.index)
        let known = draft.string(["headers", "Cookie"])
        draft.set(["headers", "Cookie"], .string((known.map { $0 + "; " } ?? "") + option.value), at: place)
        return nil
    }

    private mutating func take(proxy option: FrontOption) {
        let scheme =
            switch option.name {
            case "socks5": "socks5"
            case "socks5-hostname": "socks5h"
            default: "http"
            }
        let place = FrontPlace.of(option.index)
        guard !option.value.isEmpty else { return draft.set(["proxy"], .string(""), at: place) }
        let proxy = FrontURL(option.value.contains("://") ? option.value : "\(scheme)://\(option.value)")
        draft.set(["proxy", "url"], .string(proxy.url), at: place)
        if let user = proxy.user {
            logins.proxy = Text(text: "\(user):\(proxy.password ?? "")", index: option.index)
        }
    }

    /// Whether nothing was given, as behind a last `--next`.
    var isEmpty: Bool { urls.isEmpty && !isGiven }
}

extension String {
    func strippingPrefix(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }

    /// The text as curl sends a file of `--data`: without carriage returns, newlines and null characters.
    fileprivate var withoutLineEnds: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0 != "\r" && $0 != "\n" && $0 != "\0" }))
    }
}
