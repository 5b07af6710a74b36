from django.db import migrations, models


class Migration(migrations.Migration):
    """Whether a person is asked before a subagent is started."""

    dependencies = [("agents", "0004_library")]

    operations = [
        migrations.AddField(
            model_name="librarysetting",
            name="asks_to_delegate",
            field=models.BooleanField(default=False),
        ),
    ]
