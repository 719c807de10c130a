import TransferCore
import TransferEngine
import TransferQueue

/// The reader of a command line of wget (its manual, 1.21). The options are those of ``WgetOptions``.
struct WgetFront: FrontReader {
    static let tool = FrontTool.wget

    private(set) var line = FrontLine()
    var faults: [FrontFault] = []
    private var draft = ListDraft(at: FrontPlace.of(0))
    private var urls: [(text: String, index: Int)] = []
    private var names = WgetNames()
    private var user: String?
    private var password: String?
    private var proxyLogin: (user: String?, password: String?) = (nil, nil)
    private var usesNetrc = true
    private var sendsLoginFirst = false
    private var base: String?
    /// Whether files are only asked for (`--spider`).
    private var isSpider = false
    private var families = AddressFamilies.any
    /// The statuses after which a request is made again, besides those that always are.
    private var retriedStatuses: Set<Int> = []

    static let syntax: FrontSyntax = {
        var syntax = FrontSyntax(joinsByEquals: true)
        for option in WgetOptions.all {
            syntax.add(option.name, letter: option.letter, option.takesValue ? .required : .none)
        }
        return syntax
    }()

    mutating func take(operand: String, at index: Int) { urls.append((operand, index)) }

    mutating func take(_ option: FrontOption) {
        switch WgetOption.byName[option.name]?.meaning {
        case .talk?: break
        case .refused(let reason, let canBeLeftOut)?:
            if option.isOn { faults.append(option.fault(reason, canBeLeftOut: canBeLeftOut)) }
        case .common(let meaning)?:
            switch meaning.apply(option.listed, to: &draft) {
            case .taken: break
            case .refused(let message): faults.append(option.fault(message.strippingPrefix("\(option.shown): ")))
            case .leftOut, .takenWithout:
                faults.append(option.fault(CurlFrontRules.unknownEffect))
            }
        case .own?: takeOwn(option)
        case nil: faults.append(option.fault("no option that is known"))
        }
    }

    private mutating func takeOwn(_ option: FrontOption) {
        let place = FrontPlace.of(option.index)
        switch option.name {
        case "quiet", "no-verbose": line.isQuiet = option.isOn
        case "verbose": line.isVerbose = option.isOn
        case "output-document": names.document = option.value
        case "directory-prefix": names.folder = option.value
        case "continue": names.continues = option.isOn
        case "no-clobber": names.keeps = option.isOn
        case "timestamping": names.updates = option.isOn
        case "content-disposition": names.areServers = option.isOn
        case "trust-server-names": names.areLast = option.isOn
        case "use-server-timestamps": draft.set(["remoteTime"], .boolean(option.isOn), at: place)
        case "base": base = option.value
        case "force-directories", "no-directories":
            names.makesFolders = option.isOn == (option.name != "no-directories")
        case "no-host-directories": names.namesHost = !option.isOn
        case "protocol-directories": names.namesScheme = option.isOn
        case "inet4-only", "inet6-only":
            families = !option.isOn ? .any : option.name == "inet4-only" ? .v4 : .v6
        case "spider": isSpider = option.isOn
        case "cut-dirs":
            guard let count = Int(option.value), count >= 0 else {
                return faults.append(option.fault("it takes a whole number"))
            }
            names.leftOutFolders = count
        case "retry-on-http-error":
            let codes = option.value.split(separator: ",").map { Int($0) }
            guard codes.allSatisfy({ FieldRanges.statusCodes.contains($0 ?? 0) }) else {
                return faults.append(option.fault("it takes statuses, such as 429,503"))
            }
            retriedStatuses.formUnion(codes.compactMap(\.self))
        case "load-cookies":
            guard FrontNames.exists(option.value) else {
                return line.warnings.append("wget \(option.shown): no file \(option.value) is there; no cookie is sent")
            }
            draft.set(["cookies"], .string(option.value), at: place)
        case "input-file": read(list: option)
        case "no-netrc": usesNetrc = !option.isOn
        case "user", "http-user", "ftp-user": user = option.value
        case "password", "http-password", "http-passwd", "ftp-password": password = option.value
        case "proxy-user": proxyLogin.user = option.value
        case "proxy-password", "proxy-passwd": proxyLogin.password = option.value
        case "proxy": if !option.isOn { draft.set(["proxy"], .string(""), at: place) }
        case "cache":
            if !option.isOn { draft.addHeader("Cache-Control", "no-cache", at: place) }
        case "auth-no-challenge": sendsLoginFirst = option.isOn
        case "no-http-keep-alive", "retry-on-host-error": break
        case "header": take(header: option)
        case "method":
            guard option.value.uppercased() != "HEAD" else {
                return faults.append(option.fault("a job moves a file, and the head alone is none"))
            }
            draft.set(["method"], .string(option.value), at: place)
        case "post-data", "body-data": take(body: option.value, option)
        case "post-file", "body-file":
            switch FrontInput.text(option.value) {
            case .success(let text): take(body: text, option)
            case .failure(let refusal): faults.append(option.fault(refusal.reason))
            }
        case "tries":
            let value = option.value == "inf" ? "0" : option.value
            guard let tries = Int(value), tries >= 0 else {
                return faults.append(option.fault("it takes a whole number, or 0 for no limit"))
            }
            let retries = tries == 0 ? FieldRanges.retries.upperBound : tries - 1
            draft.set(["retry", "limit"], .integer(min(retries, FieldRanges.retries.upperBound)), at: place)
        case "timeout":
            // A zero means no limit, which is never so here: the defaults stay.
            guard Double(option.value) != 0 else { return }
            draft.set(["timeout"], .amount(option.value), at: place)
            draft.set(["connectTimeout"], .amount(option.value), at: place)
        case "limit-rate": draft.set(["limitRate"], .amount(option.value.uppercased()), at: place)
        default: takeWord(option)
        }
    }

    /// The options that are taken with certain values only.
    private mutating func takeWord(_ option: FrontOption) {
        let value = option.value.lowercased()
        switch option.name {
        case "compression" where ["auto", "gzip"].contains(value):
            draft.set(["compressed"], .boolean(true), at: FrontPlace.of(option.index))
        case "compression" where value == "none": break
        case "secure-protocol" where ["auto", "tlsv1", "tlsv1_1", "tlsv1_2"].contains(value): break
        case "restrict-file-names" where value == "unix": break
        case "execute" where value.filter({ $0 != " " }) == "robots=off": break
        case "compression": faults.append(option.fault("it takes auto, gzip or none"))
        case "execute":
            faults.append(option.fault("only robots=off is taken, as no page is asked; write the other options out"))
        default: faults.append(option.fault("\(option.value) has no equivalent", canBeLeftOut: true))
        }
    }

    private mutating func take(header option: FrontOption) {
        guard let colon = option.value.firstIndex(of: ":"), colon > option.value.startIndex else {
            return faults.append(option.fault("a header is written 'NAME: VALUE'"))
        }
        let value = option.value[option.value.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        draft.addHeader(
            String(option.value[..<colon]), String(value), at: FrontPlace.of(option.index), repeated: .replaced)
    }

    private mutating func take(body: String, _ option: FrontOption) {
        let place = FrontPlace.of(option.index)
        draft.set(["body"], .string(body), at: place)
        if option.name.hasPrefix("post"), !draft.has(["method"]) { draft.set(["method"], .string("POST"), at: place) }
        guard !draft.hasHeader("Content-Type") else { return }
        draft.set(["headers", "Content-Type"], .string("application/x-www-form-urlencoded"), at: place)
    }

    /// Reads the URLs of a list, one a line.
    private mutating func read(list option: FrontOption) {
        switch FrontInput.text(option.value) {
        case .failure(let refusal): faults.append(option.fault(refusal.reason))
        case .success(let text):
            for line in text.split(whereSeparator: \.isNewline) {
                let url = line.filter { $0 != "\t" }.split(separator: " ", omittingEmptySubsequences: true).joined(
                    separator: "%20")
                if !url.isEmpty { urls.append((url, option.index)) }
            }
            if urls.isEmpty { faults.append(option.fault("no URL is in the list")) }
        }
    }

    // MARK: Results

    mutating func finish() {
        if faults.isEmpty, urls.isEmpty { faults.append(FrontFault(shown: "", reason: "no URL is named")) }
        if urls.count > 1, let document = names.document, !["-", "/dev/stdout", "/dev/null"].contains(document) {
            faults.append(
                FrontFault(
                    shown: "-O \(document)",
                    reason: "one file would get all of the URLs, one behind the other; -O - and > FILE do so"))
        }
        for (text, index) in urls {
            let url = FrontURL(base.map { text.contains("://") ? text : $0 + text } ?? text)
            if let refusal = URLRule.refusal(of: url.url) {
                // wget reports such a URL, and fetches the others.
                line.leftOut.append(FrontFault(shown: Redaction.url(text), reason: refusal.message))
                continue
            }
            var own = draft
            own.place = FrontPlace.of(index)
            // wget says that such a request has no body.
            if let method = own.string(["method"])?.uppercased(), ["POST", "PUT", "PATCH"].contains(method),
                !own.has(["body"])
            {
                own.set(["body"], .string(""), at: own.place)
            }
            logIn(url, &own)
            let output = isSpider ? .discarded : names.output(of: url, &own)
            var transfer = FrontTransfer(draft: own, urls: [url.url], kind: .download(output))
            transfer.retriedStatuses = retriedStatuses
            if isSpider { ask(&transfer, url) }
            if case .folder = output { transfer.rules.takesSame = false }
            transfer.rules.numbersLast = true
            transfer.rules.families = families
            transfer.rules.keepsLonger = names.continues
            if !own.has(["retry", "limit"]) {
                // wget's own limit is 20 attempts. A reader may wait for a stream, which gets one.
                let limit = transfer.isStreamed || isSpider ? 0 : 19
                transfer.draft.set(["retry", "limit"], .integer(limit), at: own.place)
            }
            line.transfers.append(transfer)
        }
        line.hidesErrors = line.isQuiet
        // A line without any URL of ours ends before anything starts.
        if line.transfers.isEmpty {
            faults += line.leftOut
            line.leftOut = []
        }
    }

    /// Lets a transfer only ask whether its file is there.
    private mutating func ask(_ transfer: inout FrontTransfer, _ url: FrontURL) {
        guard url.isHTTP, !transfer.draft.has(["body"]) else {
            return faults.append(FrontFault(shown: "--spider", reason: "only HTTP is asked, without a body"))
        }
        var answer = FrontAnswer()
        answer.asksHead = true
        answer.keepsCookies = true
        answer.follows = true
        answer.refusals = .dropped
        transfer.answer = answer
    }

    private mutating func logIn(_ url: FrontURL, _ draft: inout ListDraft) {
        let place = draft.place
        if let name = proxyLogin.user, let proxy = draft.string(["proxy"]) ?? ProxyEnvironment.url(for: url) {
            draft.remove(["proxy"])
            draft.set(["proxy", "url"], .string(proxy), at: place)
            draft.set(["proxy", "user"], .string(name), at: place)
            draft.set(["proxy", "password"], .string(proxyLogin.password ?? ""), at: place)
        }
        let entry = url.user == nil && user == nil && usesNetrc ? FrontLogin.netrc(for: url, mustBePrivate: false) : nil
        guard let name = url.user ?? user ?? entry?.user else { return }
        let known = url.password ?? password ?? entry?.password
        guard let secret = known ?? (try? PasswordPrompt.ask(for: "\(name) at \(url.url)")) else {
            let words = "the password is missing, and there is no terminal to ask for it"
            return faults.append(FrontFault(shown: "--user=\(name)", reason: words))
        }
        if url.isHTTP, sendsLoginFirst {
            FrontLogin.set(name, secret, to: &draft, at: place)
        } else {
            FrontLogin.setAnswer(name, secret, to: &draft, at: place)
        }
    }
}

/// The proxies of the environment.
enum ProxyEnvironment {
    static func url(for url: FrontURL) -> String? {
        let names = ["\(url.scheme)_proxy", "\(url.scheme.uppercased())_PROXY"]
        return names.compactMap { Composition.environment[$0] }.first { !$0.isEmpty }
    }
}
