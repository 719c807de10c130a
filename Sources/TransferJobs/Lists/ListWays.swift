import TransferCore

/// Advice on how to set values that a list must not contain: options for users of the command, and job settings for
/// programs.
package enum ListWays {
    package static var login: String { named("a password", login: loginOptions) }
    package static var proxyLogin: String { named("a proxy's login", login: proxyOptions) }
    package static var passphrase: String { named("a passphrase", login: passphraseOption) }
    package static var cookie: String { named("a cookie", login: cookieOption) }

    /// Returns the advice for a secret header field.
    ///
    /// - Parameter name: The field's name.
    package static func header(_ name: String) -> String {
        named("a secret", login: CommandPhrases.only("-H '\(Wording.printable(name)): $VARIABLE'"))
    }

    /// The advice for a URL that contains a login.
    package static var loginOfURL: String {
        CommandPhrases.choose("leave it out and give \(loginOptions)", "leave it out, and set it for the job")
    }

    /// The end of a message about a list of URLs that was mistaken for another form.
    package static var plain: String { CommandPhrases.only("; --format urls reads a list of URLs alone") }

    private static func named(_ secret: String, login options: String) -> String {
        let way = CommandPhrases.choose("leave it out and give \(options)", "leave it out, and set it for the job")
        return "\(secret) is named, never written: \(way)"
    }

    private static var loginOptions: String { CommandPhrases.only("--user NAME --password '$VARIABLE', or --netrc") }
    private static var proxyOptions: String { CommandPhrases.only("--proxy-user NAME --proxy-password '$VARIABLE'") }
    private static var passphraseOption: String { CommandPhrases.only("--key-passphrase '$VARIABLE'") }
    private static var cookieOption: String { CommandPhrases.only("-b '$VARIABLE' or -b FILE") }
}
