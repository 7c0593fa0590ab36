"""A throw-away certificate authority and the good and bad certificates that it signs."""

import ssl
import subprocess

HOSTS = "DNS:localhost,IP:127.0.0.1,DNS:*.site.test"


def make_authority(folder):
    """Write ca.crt and srv/wrong/expired/selfsigned.crt with srv.key into `folder`."""

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=Test CA")
    openssl("req", *key, "-keyout", "srv.key", "-out", "srv.csr", "-subj", "/CN=localhost")
    for name, days, hosts in (
        ("srv", "2", HOSTS),
        ("wrong", "2", "DNS:other.test"),
        ("expired", "-1", HOSTS),
    ):
        (folder / f"{name}.ext").write_text(f"subjectAltName={hosts}\n")
        sign = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial")
        openssl("x509", "-req", "-in", "srv.csr", *sign, "-days", days, "-out", f"{name}.crt",
                "-extfile", f"{name}.ext")  # fmt: skip
    openssl("x509", "-req", "-in", "srv.csr", "-signkey", "srv.key", "-days", "2", "-out",
            "selfsigned.crt", "-extfile", "srv.ext")  # fmt: skip
    return folder


def server_context(folder, name="srv"):
    """A server's context with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.crt", folder / "srv.key")
    return context
