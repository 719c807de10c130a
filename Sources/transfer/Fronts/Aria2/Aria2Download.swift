import TransferCore
import TransferQueue

/// A download of aria2: its sources, and its options.
struct Aria2Download {
    var urls: [String] = []
    var out: String?
    private var draft = ListDraft(at: FrontPlace.of(0))
    private var folder: String?
    private var split: Int?
    private var perServer: Int?
    private var continues = false
    private var renames = true
    private var login: (user: String?, password: String?) = (nil, nil)
    private var proxyLogin: (user: String?, password: String?) = (nil, nil)
    /// The proxies by their options' names. The URL, which may follow, decides which of them counts.
    private var proxies: [String: FrontOption] = [:]
    private var usesNetrc = true
    /// Whether a login is sent only when the server asks for it (`http-auth-challenge`).
    private var waitsForQuestion = false

    /// Adds a source.
    ///
    /// - Returns: Why the source cannot be taken; `nil` for one that was.
    mutating func add(url: String, at index: Int) -> FrontFault? {
        let shown = Redaction.url(url)
        if url.hasPrefix("magnet:") || url.lowercased().hasSuffix(".torrent") {
            return FrontFault(shown: shown, reason: "torrents are not fetched")
        }
        if FetchedDocument.isMetalink(url) {
            return FrontFault(
                shown: shown, reason: "a Metalink is named to `transfer get`", line: ["transfer", "get", url])
        }
        guard url.contains("://") else {
            return FrontFault(shown: shown, reason: "not a URL; it begins with https:// or another scheme")
        }
        let parsed = FrontURL(url)
        if let refusal = URLRule.refusal(of: parsed.url) { return FrontFault(shown: shown, reason: refusal.message) }
        if let user = parsed.user { login = (user, parsed.password) }
        if !urls.contains(parsed.url) { urls.append(parsed.url) }
        draft.place = FrontPlace.of(index)
        return nil
    }

    /// Adds an option.
    ///
    /// - Returns: Why the option cannot be taken; `nil` for one that was.
    mutating func take(_ option: FrontOption) -> FrontFault? {
        let place = FrontPlace.of(option.index)
        switch option.name {
        case "out": out = option.value
        case "dir": folder = option.value
        case "continue": continues = option.isOn
        case "auto-file-renaming": renames = option.isOn
        case "split", "max-connection-per-server":
            guard let number = Int(option.value), number > 0 else {
                return option.fault("it takes a whole number from 1")
            }
            if option.name == "split" { split = number } else { perServer = number }
        case "checksum":
            guard let checksum = Checksum(option.value) else {
                return option.fault(ChecksumRule.refusal(of: option.value))
            }
            draft.set(["checksum"], .string(checksum.description), at: place)
        case "header":
            guard let colon = option.value.firstIndex(of: ":"), colon > option.value.startIndex else {
                return option.fault("a header is written 'NAME: VALUE'")
            }
            let value = option.value[option.value.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            draft.addHeader(String(option.value[..<colon]), String(value), at: place, repeated: .further)
        case "http-user", "ftp-user": login.user = option.value
        case "http-passwd", "ftp-passwd": login.password = option.value
        case "all-proxy-user", "http-proxy-user", "https-proxy-user", "ftp-proxy-user": proxyLogin.user = option.value
        case "all-proxy-passwd", "http-proxy-passwd", "https-proxy-passwd", "ftp-proxy-passwd":
            proxyLogin.password = option.value
        case "all-proxy", "http-proxy", "https-proxy", "ftp-proxy": return take(proxy: option)
        case "http-auth-challenge": waitsForQuestion = option.isOn
        case "no-netrc": usesNetrc = !option.isOn
        default: return takeListed(option)
        }
        return nil
    }

    private mutating func take(proxy option: FrontOption) -> FrontFault? {
        var option = option
        if !option.value.isEmpty {
            let proxy = FrontURL(option.value)
            option.value = proxy.url
            if let user = proxy.user { proxyLogin = (user, proxy.password) }
        }
        proxies[option.name] = option
        return nil
    }

    private mutating func takeListed(_ option: FrontOption) -> FrontFault? {
        guard let meaning = Aria2Options.meaning(of: option.name) else {
            return option.fault("no option that is known")
        }
        return switch meaning.apply(option.listed, to: &draft) {
        case .taken: nil
        case .leftOut, .takenWithout: option.fault(CurlFrontRules.unknownEffect)
        case .refused(let message): option.fault(message.strippingPrefix("\(option.shown): "))
        }
    }

    /// The transfer of the file.
    var transfer: FrontTransfer {
        var own = draft
        let place = draft.place
        // aria2 has one connection to a server unless -x allows more, and five pieces unless -s has more.
        if split != nil || perServer != nil {
            let count = min(split ?? 5, perServer ?? 1, FieldRanges.segments.upperBound)
            own.set(["segments"], .integer(count), at: place)
        }
        if !own.has(["retry", "limit"]) { own.set(["retry", "limit"], .integer(4), at: place) }
        if !own.has(["remoteTime"]) { own.set(["remoteTime"], .boolean(false), at: place) }
        logIn(&own, place)
        let scheme = urls.first.map { FrontURL($0).scheme } ?? ""
        if let proxy = proxies["\(scheme)-proxy"] ?? proxies["all-proxy"] {
            own.set(["proxy"], .string(proxy.value), at: FrontPlace.of(proxy.index))
        }
        if let user = proxyLogin.user, let proxy = own.string(["proxy"]) {
            own.remove(["proxy"])
            own.set(["proxy", "url"], .string(proxy), at: place)
            own.set(["proxy", "user"], .string(user), at: place)
            own.set(["proxy", "password"], .string(proxyLogin.password ?? ""), at: place)
        }
        if continues, !own.has(["ifExists"]) {
            own.set(["adopt"], .string("unproven"), at: place)
        } else if !own.has(["ifExists"]) {
            own.set(["ifExists"], .string(renames ? "rename" : "fail"), at: place)
        }
        let output: FrontTransfer.Output =
            out.map { .file(FrontNames.joined(folder, $0)) } ?? .folder(folder ?? "", name: .last)
        return FrontTransfer(draft: own, urls: urls, kind: .download(output))
    }

    /// Sets the login: the line's own one, or that of `~/.netrc` where other users cannot read the file.
    private func logIn(_ draft: inout ListDraft, _ place: ListPlace) {
        var login = login
        if login.user == nil, usesNetrc, !draft.has(["auth", "netrc"]), let url = urls.first,
            let entry = FrontLogin.netrc(for: FrontURL(url), mustBePrivate: true)
        {
            login = entry
        }
        guard let user = login.user else { return }
        draft.remove(["auth", "netrc"])
        if waitsForQuestion || !urls.allSatisfy({ $0.lowercased().hasPrefix("http") }) {
            FrontLogin.setAnswer(user, login.password ?? "", to: &draft, at: place)
        } else {
            FrontLogin.set(user, login.password ?? "", to: &draft, at: place)
        }
    }
}
