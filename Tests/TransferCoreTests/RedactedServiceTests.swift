import Testing
import TransferCore

/// URLs of services whose bearer gets access, and URLs without such a secret.
@Suite struct RedactedServiceTests {
    /// `S3CRET` marks the secret.
    @Test(arguments: [
        "https://gitlab.example/api/v4/projects/1/jobs/2/artifacts?private_token=S3CRET",
        "https://gitlab.example/api/v4/projects/1/packages/x?job_token=S3CRET",
        "https://gitlab.example/group/project.atom?feed_token=S3CRET",
        "http://plex.example:32400/library/parts/1/file.mkv?download=1&X-Plex-Token=S3CRET",
        "https://a.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig=S3CRET&se=2030-01-01T00%3A00%3A00Z&sp=r",
        "https://api.example/v1/f?subscription-key=S3CRET", "https://func.azurewebsites.net/api/f?code=S3CRET",
        "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=S3CRET&X-Amz-Signature=S3CRET",
        "https://b.s3.amazonaws.com/k?X-Amz-Security-Token=S3CRET",
        "https://b.s3.amazonaws.com/k?AWSAccessKeyId=S3CRET&Signature=S3CRET&Expires=1700000000",
        "https://storage.googleapis.com/b/o?X-Goog-Signature=S3CRET&X-Goog-Credential=S3CRET",
        "https://storage.googleapis.com/b/o?GoogleAccessId=S3CRET&Signature=S3CRET",
        "https://d.cloudfront.net/f?Policy=S3CRET&Signature=S3CRET&Key-Pair-Id=S3CRET",
        "https://download.apple.example/x.dmg?__gda__=S3CRET",
        "https://a.akamaized.net/f?hdnea=exp=1~acl=/*~hmac=S3CRET",
        "https://a.akamaized.net/f?hdnts=exp=1~hmac=S3CRET",
        "https://a.akamaized.net/exp=17~acl=%2f*~hmac=S3CRET/f.mp4",
        "https://files.slack.com/files-pri/T1-F1/x.pdf?pub_secret=S3CRET", "https://files.slack.com/f/x?t=S3CRET",
        "https://hooks.slack.com/services/T0000/B0000/S3CRETS3CRETS3CRETS3CRET",
        "https://api.telegram.org/file/bot123456:S3CRET-S3CRET-S3CRET/photos/file_1.jpg",
        "https://cdn.discordapp.com/attachments/1/2/f.zip?ex=S3CRET&is=S3CRET&hm=S3CRET",
        "https://discord.com/api/webhooks/1234567890/S3CRETS3CRETS3CRET",
        "https://www.dropbox.com/scl/fi/x/f.zip?rlkey=S3CRET&dl=1",
        "https://drive.usercontent.google.com/download?export=download&confirm=t&at=S3CRET",
        "https://drive.google.com/file/d/1/view?resourcekey=S3CRET",
        "https://tenant.sharepoint.com/personal/f?tempauth=S3CRET",
        "https://tenant.sharepoint.com/f?guestaccesstoken=S3CRET",
        "https://onedrive.live.com/download?resid=1!2&authkey=S3CRET",
        "https://f001.backblazeb2.com/file/b/f?Authorization=S3CRET",
        "https://s3.wasabisys.com/b/k?AWSAccessKeyId=S3CRET&Signature=S3CRET",
        "https://res.cloudinary.com/demo/image/authenticated/s--S3CRETS3CRET--/v1/f.jpg",
        "https://api.mapbox.com/v4/x.mvt?access_token=S3CRET", "https://api.trello.com/1/a?key=S3CRET&token=S3CRET",
        "https://zoom.us/rec/download/f?access_token=S3CRET", "https://zoom.us/rec/play/f?pwd=S3CRET",
        "https://api.twilio.com/f.wav?AuthToken=S3CRET", "https://ci.example/job/x/build?token=S3CRET",
        "https://nexus.example/repository/x/f.jar?nexusToken=S3CRET", "https://art.example/r/f.jar;token=S3CRET",
        "https://art.example/r/f.jar?X-JFrog-Art-Api-Key=S3CRET",
        "https://raw.githubusercontent.com/a/b/c?token=S3CRET",
        "https://bitbucket.example/f?jwt=S3CRET", "https://shop.example/f;jsessionid=S3CRET/x",
        "https://oss.aliyuncs.com/k?OSSAccessKeyId=S3CRET&Signature=S3CRET",
        "https://cos.example/k?q-sign-algorithm=sha1&q-signature=S3CRET", "https://cdn.example/k?auth_key=S3CRET",
        "https://obs.example/k?x-obs-security-token=S3CRET", "https://qiniu.example/k?e=1700000000&token=S3CRET",
        "https://upyun.example/k?_upt=S3CRET", "https://tx.example/k?txSecret=S3CRET&txTime=5F",
        "https://objectstorage.example/p/S3CRETS3CRETS3CRETS3CRET/n/ns/b/bucket/o/k",
        "https://box.example/f?access_token=S3CRET",
        "https://sf.example/f?sid=S3CRET",
        "https://sf.example/f?oauth_token=S3CRET",
        "https://rss.example/f?passkey=S3CRET", "https://tracker.example/f?torrent_pass=S3CRET",
        "https://api.example/f?%74oken=S3CRET", "https://api.example/f?client%5Fsecret=S3CRET",
        "https://api.example/f?a=1;refresh_token=S3CRET", "https://api.example/f?passwd=S3CRET",
        "https://api.example/f#access_token=S3CRET", "https://api.example/f?url=https%3A%2F%2Fu%3AS3CRET%40h%2F",
        "https://api.example/f?x=S3CRET", "https://api.example/f?S3CRET", "https://api.example/f?ticket=ST-1-S3CRET",
        "https://api.example/f?apiKey=S3CRET",
        "https://api.example/f?X-Api-Key=S3CRET",
        "https://api.example/f?sessionToken=S3CRET",
        "https://api.example/eyJhbGciOi.eyJzdWIi.S3CRET/f", "https://u:S3CRET@api.example/f",
    ])
    func takesTheSecretOut(_ url: String) {
        let redacted = Redaction.url(url)
        #expect(!redacted.contains("S3CRET"), "\(redacted)")
        #expect(Redaction.hasSecret(url))
        #expect(Redaction.url(redacted) == redacted, "once is enough")
        #expect(!Redaction.url("Could not fetch \(url) (404)").contains("S3CRET"))
    }

    @Test(arguments: [
        "https://a.example/download.php?id=17",
        "https://a.example/f?file=report.pdf",
        "https://a.example/f?page=2&per_page=100",
        "https://a.example/f?v=1.2.3-rc1&arch=x86_64&os=linux",
        "https://a.example/f?name=ubuntu-22.04-live-server-amd64.iso",
        "https://a.example/f?id=123e4567-e89b-12d3-a456-426614174000",
        "https://a.example/f?raw",
        "https://a.example/f?dl=1",
        "https://a.example/f?path=%2Fa%2Fvery%2Flong%2Fpath%2Fto%2Fsome%2Ffile%2Fthat%2Fis%2Fdeep.txt",
        "https://a.example/f#top",
        "https://a.example/f?date=2024-01-31T10:00:00", "https://a.example/f;v=1.2/x", "ftp://a.example/f;type=i",
        "https://a.example/f?commit=0123456789abcdef0123456789abcdef01234567",
        "https://a.example/f?title=Some+long+words+here",
        "https://a.example/a-very-long-name-of-a-file-without-anything-else-in-it.iso",
        "https://a.example/up?to={name}",
        "https://a.example/f?contact=a.person@mail.example", "https://a.example/f?w=1920&h=1080&q=80",
    ])
    func urlsWithoutASecretAreUnchanged(_ url: String) {
        #expect(Redaction.url(url) == url)
        #expect(!Redaction.hasSecret(url))
    }

    /// A redacted value under an unknown name still distinguishes jobs and resources.
    @Test func placesThatDifferInAValueStayApart() {
        let (one, other) = ("https://a.example/d?x=Ab3dEf6hIj9kLm", "https://a.example/d?x=Zb3dEf6hIj9kLm")
        #expect(Redaction.url(one) != Redaction.url(other))
        let place = AnsweredPlace(url: one, takesCredentials: true)
        #expect(place.isResource(of: one) && !place.isResource(of: other) && !place.canBeAsked)
        let key = AnsweredPlace(url: "https://a.example/d?key=1", takesCredentials: true)
        #expect(!key.isResource(of: "https://a.example/d?key=1"))
        let signed = AnsweredPlace(url: "https://a.example/d?signature=1", takesCredentials: true)
        #expect(signed.isResource(of: "https://a.example/d?signature=2"))
    }
}
